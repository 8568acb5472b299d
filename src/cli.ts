import { main } from './cli/main.ts';
import { Shell } from './cli/shell.ts';

// The program `assent` runs one command with this process's streams. A signal's exit code is 128 plus its number.

const argv = process.argv.slice(2);

// A reader that closes early (`assent … | head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  new Shell(argv, process).complain(`the output can't be written: ${error.message}`);
  process.exitCode = 1;
});

const exitCode = await main(argv, process);
if (exitCode !== 0) process.exitCode = exitCode;
