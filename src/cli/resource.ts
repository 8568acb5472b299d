import type { Command } from 'commander';
import type pg from 'pg';
import {
  findResource,
  listResources,
  type Resource,
  registerResource,
  removeResource,
  setResourceStatus,
} from '../flows/resources.ts';
import { found, printList, printOne, report, statusSentence } from './output.ts';
import { secretCommands } from './secret.ts';
import { withStore } from './withStore.ts';

/** `assent resource …`: servers of the payment API that may introspect tokens */
export function resourceCommands(program: Command): void {
  const resource = program
    .command('resource')
    .description(
      'register, list, block and delete servers that may introspect tokens, and manage their secrets',
    );
  createCommand(resource);
  readCommands(resource);
  statusCommands(resource);
  deleteCommand(resource);
  secretCommands(resource, 'resource', requireResource);
}

function createCommand(resource: Command): void {
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
}

function readCommands(resource: Command): void {
  resource
    .command('list')
    .description('list the servers')
    .action(async () => printList((await withStore(listResources)).map(rowOf), 'no resource servers'));
  resource
    .command('show <id>')
    .description('show a server')
    .action(async (id: string) => printOne(rowOf(await withStore((db) => requireResource(db, id)))));
}

function statusCommands(resource: Command): void {
  resource
    .command('block <id>')
    .description('block a server: answer it as if its secrets were wrong until it is unblocked')
    .action((id: string) => setStatus(id, 'blocked'));
  resource
    .command('unblock <id>')
    .description('let a blocked server introspect again')
    .action((id: string) => setStatus(id, 'active'));
}

function deleteCommand(resource: Command): void {
  resource
    .command('delete <id>')
    .description('delete a server with its secrets')
    .action(async (id: string) => {
      const removed = await withStore((db, operator) => removeResource(db, id, operator));
      found(removed || null, 'resource', id);
      report({ resource_id: id, status: 'deleted' }, `deleted ${id}`);
    });
}

async function setStatus(id: string, status: Resource['status']): Promise<void> {
  const changed = await withStore((db, operator) => setResourceStatus(db, id, status, operator));
  report({ resource_id: id, status }, statusSentence(id, status, found(changed, 'resource', id)));
}

function rowOf({ resourceId, name, status }: Resource) {
  return { resource_id: resourceId, name, status };
}

async function requireResource(db: pg.Pool, id: string): Promise<Resource> {
  return found(await findResource(db, id), 'resource', id);
}
