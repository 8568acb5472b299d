import { readFileSync } from 'node:fs';
import { Command, CommanderError, type Option } from 'commander';
import { addCommands } from './cli/addCommands.ts';
import { AUDIT_COMMANDS } from './cli/audit.ts';
import { CLIENT_COMMANDS } from './cli/client.ts';
import { DATABASE_COMMANDS } from './cli/database.ts';
import { DOCTOR_COMMANDS } from './cli/doctor.ts';
import { EXPLAIN_COMMANDS } from './cli/explain.ts';
import { GRANT_COMMANDS } from './cli/grant.ts';
import { MAINTAIN_COMMANDS } from './cli/maintain.ts';
import { complain, inJson, print, UsageError } from './cli/output.ts';
import { RESOURCE_COMMANDS } from './cli/resource.ts';
import { USER_COMMANDS } from './cli/user.ts';
import { explainTrouble } from './store/database/errorTexts.ts';

// The `assent` command. Results go to standard output, messages to standard error; the exit code is 0 only
// on success, 2 for a call that can't be understood, and 128 and its number for a signal. How they speak to programs is in
// `cli/output.ts`.

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** The help text of commander, kept for a JSON document. */
let helpText = '';

const program: Command = new Command('assent')
  .description('An OAuth 2.0 authorization server for a payment service.')
  .addHelpText('after', '\nThe environment variables are described in docs/configuration.md.')
  .version(version, '--version', 'print the version')
  .option('--json', 'print one JSON document, and errors as JSON; ask nothing')
  .exitOverride()
  .configureHelp({ showGlobalOptions: true, visibleGlobalOptions })
  .configureOutput({
    writeOut(text) {
      if (inJson) helpText += text;
      else process.stdout.write(text);
    },
    writeErr(text) {
      if (!inJson) process.stderr.write(text);
    },
  })
  .hook('preAction', (_program, command) => refuseIgnored(command));

/** The options that every command takes. Commander would add those of the parent command, which are refused here. */
function visibleGlobalOptions(command: Command): Option[] {
  return command === program ? [] : program.options.filter(({ long }) => long !== '--version');
}

/** Commander reads the options of `assent audit` also before and behind `prune`, which would ignore them. */
function refuseIgnored(command: Command): void {
  const { parent } = command;
  if (parent === null || parent === program) return;
  const ignored = parent.options.find(
    (option) => parent.getOptionValueSource(option.attributeName()) === 'cli',
  );
  if (ignored !== undefined)
    throw new UsageError(`${parent.name()} ${command.name()} takes no ${ignored.long}`);
}

addCommands(program, {
  serve: ['run the server until a signal ends it', runServer],
  ...DATABASE_COMMANDS,
  ...MAINTAIN_COMMANDS,
  ...CLIENT_COMMANDS,
  ...USER_COMMANDS,
  ...RESOURCE_COMMANDS,
  ...GRANT_COMMANDS,
  ...AUDIT_COMMANDS,
  ...EXPLAIN_COMMANDS,
  ...DOCTOR_COMMANDS,
});

/** Loads the server only here: the other commands start faster without it. */
async function runServer(): Promise<void> {
  const { serve } = await import('./serve.ts');
  await serve();
}

// Output that nobody reads any more (`assent … | head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  complain(`the output can't be written: ${error.message}`);
  process.exitCode = EXIT_FAILED;
});

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = explain(error);
}

/** Reports an error on standard error. @returns the exit code */
function explain(error: unknown): number {
  if (error instanceof CommanderError) return explainUsage(error);
  complain(explainTrouble(error));
  return error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
}

/** Commander has printed usage errors, help and the version for people already. */
function explainUsage({ code, exitCode, message }: CommanderError): number {
  if (inJson) {
    if (code === 'commander.version') print({ version }, version);
    else if (exitCode === 0) print({ help: helpText }, helpText);
    else
      complain(
        code === 'commander.help' ? 'say which command: --help lists them' : message.replace(/^error: /, ''),
      );
  }
  return exitCode === 0 ? 0 : EXIT_USAGE;
}
