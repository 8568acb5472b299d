import { readFileSync } from 'node:fs';
import { Command, CommanderError, type Option } from 'commander';
import { UsageError } from '../operations/operation.ts';
import { explainTrouble } from '../store/database/errorTexts.ts';
import { Shell, type Streams } from './shell.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/**
 * Runs one command. Calls in one process share only code; `serve` needs a process of its own, whose signals it takes.
 * @returns the exit code: 0 only on success, 2 for a call that can't be understood
 */
export async function main(argv: readonly string[], streams: Streams): Promise<number> {
  const shell = new Shell(argv, streams);
  let help = '';
  const showHelp = (text: string) => {
    if (shell.inJson) help += text;
    else streams.stdout.write(text);
  };
  try {
    // The commands take longer to load than the server.
    if (argv.join() === 'serve') await (await import('../process/serve.ts')).serve();
    else await (await programFor(shell, showHelp)).parseAsync(argv, { from: 'user' });
    return shell.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return explainUsage(shell, error, help);
    shell.complain(explainTrouble(error));
    return error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
  }
}

async function programFor(shell: Shell, showHelp: (text: string) => void): Promise<Command> {
  const [{ addCommands }, { COMMANDS }] = await Promise.all([import('./commands.ts'), import('./table.ts')]);
  const program: Command = new Command('assent')
    .description('An OAuth 2.0 authorization server for a payment service.')
    .addHelpText('after', '\nThe environment variables are described in docs/configuration.md.')
    .version(version, '--version', 'print the version')
    .option('--json', 'print one JSON document, and errors as JSON; ask nothing')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true, visibleGlobalOptions })
    .configureOutput({
      writeOut: showHelp,
      writeErr(text) {
        if (!shell.inJson) shell.streams.stderr.write(text);
      },
    })
    .hook('preAction', (_program, command) => refuseIgnored(command));
  addCommands(program, COMMANDS, shell);
  return program;
}

/** The options that every command takes. Commander would add those of the parent command, which are refused here. */
function visibleGlobalOptions({ parent }: Command): Option[] {
  if (parent === null) return [];
  const options = parent.parent === null ? parent.options : visibleGlobalOptions(parent);
  return options.filter(({ long }) => long !== '--version');
}

/** Commander reads the options of `assent audit` also before and behind `prune`, which would ignore them. */
function refuseIgnored(command: Command): void {
  const { parent } = command;
  if (parent === null || parent.parent === null) return;
  const ignored = parent.options.find(
    (option) => parent.getOptionValueSource(option.attributeName()) === 'cli',
  );
  if (ignored !== undefined)
    throw new UsageError(`${parent.name()} ${command.name()} takes no ${ignored.long}`);
}

/** Commander has printed usage errors, help and the version for people already. @returns the exit code */
function explainUsage(shell: Shell, { code, exitCode, message }: CommanderError, help: string): number {
  if (shell.inJson) {
    if (code === 'commander.version') shell.print({ version }, version);
    else if (exitCode === 0) shell.print({ help }, help);
    else
      shell.complain(
        code === 'commander.help' ? 'say which command: --help lists them' : message.replace(/^error: /, ''),
      );
  }
  return exitCode === 0 ? 0 : EXIT_USAGE;
}
