import type pg from 'pg';
import { findClient, listClients, removeClient } from '../flows/operators/clients.ts';
import { countLiveGrants } from '../flows/operators/grants.ts';
import type { Client } from '../rules/client.ts';
import type { CommandTable } from './addCommands.ts';
import { changeStatus } from './blocking.ts';
import { clientRow, SETTING_COMMANDS } from './clientSettings.ts';
import { confirmRevoking, YES } from './confirm.ts';
import { found, printList, printOne, report, showProgress } from './output.ts';
import { secretCommands } from './secret.ts';
import { withStore } from './withStore.ts';

/** `assent client …`: the applications (contract 2.1) */
export const CLIENT_COMMANDS: CommandTable = {
  client: ['register, list, change, block and delete applications, and manage their secrets'],
  ...SETTING_COMMANDS,
  'client list': ['list the applications', list],
  'client show <id>': ['show an application', show],
  'client block <id>': [
    'block an application: refuse its requests, codes and tokens until it is unblocked',
    (id: string) => changeStatus('client', id, 'blocked'),
  ],
  'client unblock <id>': [
    'let a blocked application work again, with the tokens it has',
    (id: string) => changeStatus('client', id, 'active'),
  ],
  'client delete <id>': [
    'delete an application with its secrets, and revoke all its authorizations',
    remove,
    YES,
  ],
  ...secretCommands('client', requireClient, requireVerified),
};

async function list(): Promise<void> {
  await printList([await withStore(listClients)], (page) => page.map(clientRow), 'no applications');
}

async function show(id: string): Promise<void> {
  printOne(clientRow(await withStore((db) => requireClient(db, id))));
}

async function remove(id: string, { yes = false }: { yes?: boolean }): Promise<void> {
  const removed = await withStore(async (db, operator) => {
    const { name } = await requireClient(db, id);
    const deed = `delete the application ${name} and `;
    if (!yes) await confirmRevoking(await countLiveGrants(db, { clientId: id }), deed);
    return removeClient(db, id, operator, showProgress);
  });
  const revoked = found(removed, 'client', id);
  report({ clientId: id, status: 'deleted', revoked }, `deleted ${id}; authorizations revoked: ${revoked}`);
}

/** The application that a command names. @throws {NotFoundError} */
export async function requireClient(db: pg.Pool, id: string): Promise<Client> {
  return found(await findClient(db, id), 'client', id);
}

/** Fails for an application without authenticity verification: it never needs a secret. */
async function requireVerified(db: pg.Pool, id: string): Promise<void> {
  const { verified } = await requireClient(db, id);
  if (verified) return;
  throw new Error(`${id} is registered without authenticity verification: it is never asked for a secret`);
}
