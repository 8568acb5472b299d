import { Command, CommanderError } from 'commander';
import { OperatorError } from '../rules/common/error.ts';
import { EXIT_USAGE, type Shell } from './shell.ts';
import { COMMANDS, GROUPS } from './table.ts';

/** Runs a command of the table and sets the shell's exit code after a usage error. @throws the command's errors */
export async function runCommand(argv: readonly string[], shell: Shell, version: string): Promise<void> {
  const { inJson, streams } = shell;
  let help = '';
  const program: Command = new Command('assent')
    .description('An OAuth 2.0 authorization server for a payment service.')
    .addHelpText('after', '\nThe environment variables are described in docs/operate/configuration.md.')
    .version(version, '--version', 'print the version')
    .option('--json', 'print one JSON document, and errors as JSON; never prompt')
    .exitOverride()
    .configureHelp({
      showGlobalOptions: true,
      // Every command takes these. Commander would add those of the parent command, which are refused here.
      visibleGlobalOptions: ({ parent }) =>
        parent === null ? [] : program.options.filter(({ long }) => long !== '--version'),
    })
    .configureOutput({
      writeOut(text) {
        if (inJson) help += text;
        else streams.stdout.write(text);
      },
      writeErr(text) {
        if (!inJson) streams.stderr.write(text);
      },
    })
    .hook('preAction', (_program, command) => refuseIgnored(command));
  addCommands(program, shell);
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    explainUsage(shell, error, help);
  }
}

export function addCommands(program: Command, shell: Shell): void {
  const added = new Map([['', program]]);
  const add = (path: string, args = ''): Command => {
    const [, group = '', name = path] = /^(.*) (.*)$/.exec(path) ?? [];
    const parent = added.get(group) ?? add(group).description(GROUPS[group] ?? '');
    const command = parent.command(`${name}${args}`);
    added.set(path, command);
    return command;
  };
  for (const [usage, { summary, options = [], run }] of Object.entries(COMMANDS)) {
    const [, path = usage, args] = /^(.*?)( [<[].*)?$/.exec(usage) ?? [];
    const command = add(path, args).description(summary);
    command.action((...given) => run(shell, given.at(-2), given.slice(0, -2)));
    for (const option of options) command.addOption(option);
  }
}

/** Commander also reads options of `assent audit` before and after `prune`, which would ignore them. */
function refuseIgnored(command: Command): void {
  const { parent } = command;
  if (parent === null || parent.parent === null) return;
  const ignored = parent.options.find(
    (option) => parent.getOptionValueSource(option.attributeName()) === 'cli',
  );
  if (ignored !== undefined)
    throw new OperatorError('usage', `${parent.name()} ${command.name()} does not accept ${ignored.long}`);
}

/** Commander has already printed usage errors, help and the version for people. */
function explainUsage(shell: Shell, { code, exitCode, message }: CommanderError, help: string): void {
  if (shell.inJson) {
    if (code === 'commander.version') shell.print({ version: help.trim() }, help);
    else if (exitCode === 0) shell.print({ help }, help);
    else
      shell.complain(
        code === 'commander.help' ? 'missing command: --help lists them' : message.replace(/^error: /, ''),
      );
  }
  shell.exitCode = exitCode === 0 ? 0 : EXIT_USAGE;
}
