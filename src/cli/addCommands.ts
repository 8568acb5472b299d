import type { Command } from 'commander';

type Option = readonly [flags: string, description: string];
type Action = Parameters<Command['action']>[0];

/** A command: what its help says, what it does, and the options that it may have. */
type Row = readonly [description: string, action: Action, ...options: Option[]];

/** Adds commands to a parent, in the order of the table. @param table by name and arguments, such as `show <id>` */
export function addCommands(parent: Command, table: Readonly<Record<string, Row>>): void {
  for (const [usage, [description, action, ...options]] of Object.entries(table)) {
    const command = parent.command(usage).description(description).action(action);
    for (const option of options) command.option(...option);
  }
}
