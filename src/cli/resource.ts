import type pg from 'pg';
import {
  findResource,
  listResources,
  type Resource,
  registerResource,
  removeResource,
} from '../flows/operators/resources.ts';
import { type CommandTable, required } from './addCommands.ts';
import { changeStatus } from './blocking.ts';
import { confirm, YES } from './confirm.ts';
import { found, printList, printOne, report } from './output.ts';
import { secretCommands } from './secret.ts';
import { withStore } from './withStore.ts';

/** `assent resource …`: servers of the payment API that may introspect tokens */
export const RESOURCE_COMMANDS: CommandTable = {
  resource: ['register, list, block and delete servers that may introspect tokens, and manage their secrets'],
  'resource create': [
    'register a server; its secret, for HTTP Basic, is shown this once',
    create,
    required('--name <name>', 'a name for operators'),
  ],
  'resource list': ['list the servers', list],
  'resource show <id>': ['show a server', show],
  'resource block <id>': [
    'block a server: answer it as if its secrets were wrong until it is unblocked',
    (id: string) => changeStatus('resource', id, 'blocked'),
  ],
  'resource unblock <id>': [
    'let a blocked server introspect again',
    (id: string) => changeStatus('resource', id, 'active'),
  ],
  'resource delete <id>': ['delete a server with its secrets', remove, YES],
  ...secretCommands('resource', requireResource),
};

async function create({ name }: { name: string }): Promise<void> {
  printOne(await withStore((db, operator) => registerResource(db, name, operator)));
}

async function list(): Promise<void> {
  await printList([await withStore(listResources)], (page) => page, 'no resource servers');
}

async function show(id: string): Promise<void> {
  printOne(await withStore((db) => requireResource(db, id)));
}

async function remove(id: string, { yes = false }: { yes?: boolean }): Promise<void> {
  const removed = await withStore(async (db, operator) => {
    const { name } = await requireResource(db, id);
    if (!yes) await confirm(`delete the resource server ${name} with its secrets`, 1);
    return removeResource(db, id, operator);
  });
  found(removed || null, 'resource', id);
  report({ resourceId: id, status: 'deleted' }, `deleted ${id}`);
}

async function requireResource(db: pg.Pool, id: string): Promise<Resource> {
  return found(await findResource(db, id), 'resource', id);
}
