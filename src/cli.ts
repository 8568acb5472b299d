import { Command, CommanderError } from 'commander';
import { auditCommands } from './cli/audit.ts';
import { clientCommands } from './cli/client.ts';
import { databaseCommands } from './cli/database.ts';
import { doctorCommand } from './cli/doctor.ts';
import { explainCommand } from './cli/explain.ts';
import { grantCommands } from './cli/grant.ts';
import { UsageError } from './cli/output.ts';
import { resourceCommands } from './cli/resource.ts';
import { userCommands } from './cli/user.ts';
import { closeBeforeEnd } from './ending.ts';
import { leaveEmbeddedPostgres } from './store/embedded.ts';
import { explainTrouble } from './store/trouble.ts';

// The `assent` command. Results go to standard output, messages to standard error; the exit code is 0 only
// on success, 2 for a call that can't be understood, and 128 and its number for a signal.

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

const program = new Command('assent')
  .description('An OAuth 2.0 authorization server for a payment service.')
  .addHelpText('after', '\nThe environment variables are described in docs/operating.md.')
  .exitOverride()
  .configureHelp({ showGlobalOptions: true });

program
  .command('serve')
  .description('run the server until it gets a signal')
  .action(async () => {
    const { serve } = await import('./serve.ts'); // only here: the other commands start faster without it
    await serve();
  });
databaseCommands(program);
clientCommands(program);
userCommands(program);
resourceCommands(program);
grantCommands(program);
auditCommands(program);
explainCommand(program);
doctorCommand(program);

// Output that nobody reads any more (`assent … | head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

// To end is enough for the operator's PostgreSQL: it rolls back what is under way when the connection closes.
closeBeforeEnd(async () => {
  await leaveEmbeddedPostgres();
  return false;
});

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = explain(error);
}

/** Says what went wrong on standard error. @returns the exit code */
function explain(error: unknown): number {
  // Commander has said it already: it prints usage errors and help by itself.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
  console.error(explainTrouble(error));
  return error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
}
