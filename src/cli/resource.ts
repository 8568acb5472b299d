import type { Command } from 'commander';
import { registerResource } from '../flows/register.ts';
import { type OutputOptions, printOne } from './output.ts';
import { withStore } from './withStore.ts';

/** `assent resource create`: servers of the payment API that may introspect tokens */
export function resourceCommands(program: Command): void {
  program
    .command('resource')
    .description('register servers that may ask what a token allows')
    .command('create')
    .description('register one; the secret, for HTTP Basic, is shown this once')
    .requiredOption('--name <name>', 'what it is')
    .option('--json', 'print JSON')
    .action(async ({ name, ...output }: OutputOptions & { name: string }) => {
      const { resourceId, resourceSecret } = await withStore((db) => registerResource(db, name));
      printOne({ resource_id: resourceId, resource_secret: resourceSecret }, output);
    });
}
