import { type Command, Option } from 'commander';

type Action = Parameters<Command['action']>[0];

/** Commands as they are typed, such as `client show <id>`; a group before its commands. */
export type CommandTable = Readonly<Record<string, CommandRow>>;

/** What a command's help says, what it does, and the options that it takes. A group does nothing itself. */
type CommandRow = readonly [description: string, action?: Action, ...options: Option[]];

/** Adds the commands of a table, in its order. */
export function addCommands(program: Command, table: CommandTable): void {
  for (const [usage, [description, action, ...options]] of Object.entries(table)) {
    const [, groups = '', own = ''] = /^((?:[\w-]+ (?=\w))*)(.+)$/.exec(usage) ?? [];
    const command = groupNamed(program, groups.split(' ')).command(own).description(description);
    if (action !== undefined) command.action(action);
    for (const option of options) command.addOption(option);
  }
}

function groupNamed(program: Command, [name, ...inner]: string[]): Command {
  const group = program.commands.find((command) => command.name() === name);
  return group === undefined ? program : groupNamed(group, inner);
}

/** An option that a command can't do without. */
export function required(flags: string, description: string): Option {
  return new Option(flags, description).makeOptionMandatory();
}
