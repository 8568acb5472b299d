import type { Client } from '../oauth/client.ts';
import { asciiOnly, type Database, select, selectEach, selectOne } from './database.ts';

const CLIENT_COLUMNS = `client_id as "clientId", name, redirect_uri as "redirectUri", verified, status,
  allowed_rights as "allowedRights"`;

const find = {
  name: 'client-find',
  text: `select a.n::int as n, ${CLIENT_COLUMNS}
           from unnest($1::text[]) with ordinality as a (client_id, n) join clients using (client_id)`,
};

/** The applications registered under these ids, in the same order; null where there is none. */
export function findClients(db: Database, clientIds: readonly string[]): Promise<(Client | null)[]> {
  return selectEach<Client>(db, find, clientIds, [clientIds.map(asciiOnly)]);
}

const list = {
  name: 'client-list',
  text: `select ${CLIENT_COLUMNS} from clients order by created_at, client_id`,
};

/** Every application, in the order of registration. */
export function listClients(db: Database): Promise<Client[]> {
  return select<Client>(db, list, []);
}

const insert = {
  name: 'client-insert',
  text: `insert into clients (client_id, name, redirect_uri, verified, allowed_rights) values ($1, $2, $3, $4, $5)`,
};

/** Registers an application. */
export async function insertClient(db: Database, client: Omit<Client, 'status'>): Promise<void> {
  const { clientId, name, redirectUri, verified, allowedRights } = client;
  await select(db, insert, [clientId, name, redirectUri, verified, allowedRights]);
}

const markStatus = {
  name: 'client-mark-status',
  text: 'update clients set status = $2 where client_id = $1 returning client_id',
};

/** Blocks or unblocks; every endpoint sees it with its next statement. @returns whether there is such a client */
export async function markClientStatus(
  db: Database,
  clientId: string,
  status: Client['status'],
): Promise<boolean> {
  return (await selectOne(db, markStatus, [clientId, status])) !== undefined;
}

const markRedirectUri = {
  name: 'client-mark-redirect-uri',
  text: 'update clients set redirect_uri = $2 where client_id = $1 returning client_id',
};

/** Registers another redirect URI in place of the one before. @returns whether there is such a client */
export async function markClientRedirectUri(
  db: Database,
  clientId: string,
  redirectUri: string,
): Promise<boolean> {
  return (await selectOne(db, markRedirectUri, [clientId, redirectUri])) !== undefined;
}

const remove = {
  name: 'client-delete',
  text: 'delete from clients where client_id = $1 returning client_id',
};

/** Deletes a client with its secrets and grants. @returns whether there was one */
export async function deleteClient(db: Database, clientId: string): Promise<boolean> {
  return (await selectOne(db, remove, [clientId])) !== undefined;
}
