import type pg from 'pg';
import { type Client, effectiveChange } from '../rules/client.ts';
import { batched } from './batch.ts';
import { asciiOnly, type Database, select, selectEach, selectLong, selectOne } from './database.ts';

const CLIENT_COLUMNS = `client_id as "clientId", name, redirect_uri as "redirectUri", verified, status,
  allowed_rights as "allowedRights", revision,
  case when most_days is not null then json_build_object('days', most_days, 'sum', most_sum::text) end as most`;

const find = {
  name: 'client-find',
  text: `select a.n::int as n, ${CLIENT_COLUMNS}
           from unnest($1::text[]) with ordinality as a (client_id, n) join clients using (client_id)`,
};

/** The applications registered under these ids, in the same order; null where there is none. */
export function findClients(db: Database, clientIds: readonly string[]): Promise<(Client | null)[]> {
  return selectEach<Client>(db, find, clientIds, [clientIds.map(asciiOnly)]);
}

/** By `client_id`; null when there is none. */
export const findClient = batched<string, Client | null>(findClients);

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
  text: `insert into clients (client_id, name, redirect_uri, verified, allowed_rights, most_days, most_sum)
         values ($1, $2, $3, $4, $5, $6, $7)`,
};

/** Registers an application. */
export async function insertClient(db: Database, client: Omit<Client, 'status' | 'revision'>): Promise<void> {
  const { clientId, name, redirectUri, verified, allowedRights, most } = client;
  await select(db, insert, [
    clientId,
    name,
    redirectUri,
    verified,
    allowedRights,
    most?.days ?? null,
    most?.sum ?? null,
  ]);
}

const markStatus = {
  name: 'client-mark-status',
  text: `with changed as (update clients set status = $2 where client_id = $1 and status <> $2 returning client_id)
         select exists (select from changed) as changed from clients where client_id = $1`,
};

/** Blocks or unblocks; every endpoint sees it with its next statement. @returns whether it was another before; undefined when there is no such client */
export async function markClientStatus(
  db: Database,
  clientId: string,
  status: Client['status'],
): Promise<boolean | undefined> {
  return (await selectOne<{ changed: boolean }>(db, markStatus, [clientId, status]))?.changed;
}

const lock = {
  name: 'client-lock',
  text: `select ${CLIENT_COLUMNS} from clients where client_id = $1 for no key update`,
};

const write = {
  name: 'client-write',
  text: `update clients set name = $2, redirect_uri = $3, allowed_rights = $4, most_days = $5, most_sum = $6,
                revision = revision + 1
          where client_id = $1 returning ${CLIENT_COLUMNS}`,
};

/** What of an application may be changed. */
export type ClientSettings = Pick<Client, 'name' | 'redirectUri' | 'allowedRights' | 'most'>;

/**
 * Changes an application, within a transaction. What was shown before, and codes under way, no longer fit.
 *
 * @returns the application before and after, the same object when there was nothing to change; undefined when there is none
 */
export async function updateClient(
  db: Database,
  clientId: string,
  change: Partial<ClientSettings>,
): Promise<{ before: Client; after: Client } | undefined> {
  const before = await selectOne<Client>(db, lock, [clientId]);
  if (before === undefined) return undefined;
  const news = effectiveChange(before, change);
  if (Object.keys(news).length === 0) return { before, after: before };
  const { name, redirectUri, allowedRights, most } = { ...before, ...news };
  const values = [clientId, name, redirectUri, allowedRights, most?.days ?? null, most?.sum ?? null];
  const after = await selectOne<Client>(db, write, values);
  return { before, after: after ?? before };
}

const remove = {
  name: 'client-delete',
  text: 'delete from clients where client_id = $1 returning client_id',
};

/** Deletes a client with its secrets and grants, within a transaction. @returns whether there was one */
export async function deleteClient(connection: pg.PoolClient, clientId: string): Promise<boolean> {
  return (await selectLong(connection, remove, [clientId])).length > 0;
}
