import type { Command } from 'commander';
import { registerResource, removeResource, setResourceStatus } from '../flows/resources.ts';
import type { Database } from '../store/database.ts';
import { findResource, listResources, type Resource } from '../store/resources.ts';
import { NotFoundError, printList, printOne, report, statusSentence } from './output.ts';
import { secretCommands } from './secret.ts';
import { withStore } from './withStore.ts';

/** `assent resource …`: servers of the payment API that may introspect tokens */
export function resourceCommands(program: Command): void {
  const resource = program
    .command('resource')
    .description(
      'register, list, block and delete servers that may introspect tokens, and manage their secrets',
    );

  resource
    .command('create')
    .description('register a server; its secret, for HTTP Basic, is shown this once')
    .requiredOption('--name <name>', 'a name for operators')
    .action(async ({ name }: { name: string }) => {
      const { resourceId, resourceSecret } = await withStore((db, operator) =>
        registerResource(db, name, operator),
      );
      printOne({ resource_id: resourceId, resource_secret: resourceSecret });
    });
  resource
    .command('list')
    .description('list the servers')
    .action(async () => printList((await withStore(listResources)).map(describe), 'no resource servers'));
  resource
    .command('show <id>')
    .description('show a server')
    .action(async (id: string) => printOne(describe(await withStore((db) => requireResource(db, id)))));
  resource
    .command('block <id>')
    .description('block a server: answer it as if its secrets were wrong until it is unblocked')
    .action((id: string) => setStatus(id, 'blocked'));
  resource
    .command('unblock <id>')
    .description('let a blocked server introspect again')
    .action((id: string) => setStatus(id, 'active'));
  resource
    .command('delete <id>')
    .description('delete a server with its secrets')
    .action(async (id: string) => {
      if (!(await withStore((db, operator) => removeResource(db, id, operator)))) throw noResource(id);
      report({ resource_id: id, status: 'deleted' }, `deleted ${id}`);
    });
  secretCommands(resource, 'resource', requireResource);
}

async function setStatus(id: string, status: Resource['status']): Promise<void> {
  const changed = await withStore((db, operator) => setResourceStatus(db, id, status, operator));
  if (changed === null) throw noResource(id);
  report({ resource_id: id, status }, statusSentence(id, status, changed));
}

function describe({ resourceId, name, status }: Resource) {
  return { resource_id: resourceId, name, status };
}

async function requireResource(db: Database, id: string): Promise<Resource> {
  const resource = await findResource(db, id);
  if (resource === null) throw noResource(id);
  return resource;
}

function noResource(id: string): NotFoundError {
  return new NotFoundError(`there is no resource ${id}`);
}
