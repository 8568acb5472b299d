import { main } from './cli/main.ts';
import { Shell } from './cli/shell.ts';

// The program `assent`: one command with the streams of this process. The exit code is 128 and its number for a signal.

const argv = process.argv.slice(2);

// Output without a reader (`assent … | head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  new Shell(argv, process).complain(`the output can't be written: ${error.message}`);
  process.exitCode = 1;
});

const exitCode = await main(argv, process);
if (exitCode !== 0) process.exitCode = exitCode;
