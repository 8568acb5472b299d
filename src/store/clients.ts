import type pg from 'pg';
import { type Client, effectiveChange } from '../rules/client.ts';
import { batched } from './batch.ts';
import type { Database } from './database.ts';
import { asciiOnly, execute, query, queryBatch, queryLong, queryOne, queryRow } from './query.ts';
import { batchStatement, statement } from './statement.ts';

const CLIENT_COLUMNS = `client_id as "clientId", name, redirect_uri as "redirectUri", verified, status,
  allowed_rights as "allowedRights", revision,
  case when most_days is not null then json_build_object('days', most_days, 'sum', most_sum::text) end as most`;

const find = batchStatement<string>(
  'client-find',
  { client_id: ['text', asciiOnly] },
  (input) => `select n::int as n, ${CLIENT_COLUMNS} from ${input} join clients using (client_id)`,
);

/** The applications with these ids, in the same order; null where there is none. */
function findClients(db: Database, clientIds: readonly string[]): Promise<(Client | null)[]> {
  return queryBatch<Client>(db, find(clientIds));
}

/** By `client_id`; null when there is none. */
export const findClient = batched<string, Client | null>(findClients);

const list = {
  name: 'client-list',
  text: `select ${CLIENT_COLUMNS} from clients order by created_at, client_id`,
};

/** Every application, in the order of registration. */
export function listClients(db: Database): Promise<Client[]> {
  return query<Client>(db, list);
}

const insert = statement(
  'client-insert',
  ['clientId', 'name', 'redirectUri', 'verified', 'allowedRights', 'days', 'sum'],
  `insert into clients (client_id, name, redirect_uri, verified, allowed_rights, most_days, most_sum)
   values (@clientId, @name, @redirectUri, @verified, @allowedRights, @days, @sum)`,
);

/** Registers an application. */
export async function insertClient(db: Database, client: Omit<Client, 'status' | 'revision'>): Promise<void> {
  await execute(db, insert({ ...client, ...limitOf(client) }));
}

/** The columns of `most`. */
function limitOf({ most }: Pick<Client, 'most'>): { days: number | null; sum: string | null } {
  return { days: most?.days ?? null, sum: most?.sum ?? null };
}

const setStatus = statement(
  'client-set-status',
  ['clientId', 'status'],
  `with changed as (
     update clients set status = @status where client_id = @clientId and status <> @status returning client_id
   )
   select exists (select from changed) as changed from clients where client_id = @clientId`,
);

/**
 * Blocks or unblocks an application; every endpoint sees it with its next statement.
 *
 * @returns whether the status was another before; null when there is no such application
 */
export async function updateClientStatus(
  db: Database,
  clientId: string,
  status: Client['status'],
): Promise<boolean | null> {
  const row = await queryOne<{ changed: boolean }>(db, setStatus({ clientId, status }));
  return row?.changed ?? null;
}

const lock = statement(
  'client-lock',
  ['clientId'],
  `select ${CLIENT_COLUMNS} from clients where client_id = @clientId for no key update`,
);

const write = statement(
  'client-write',
  ['clientId', 'name', 'redirectUri', 'allowedRights', 'days', 'sum'],
  `update clients set name = @name, redirect_uri = @redirectUri, allowed_rights = @allowedRights,
          most_days = @days, most_sum = @sum, revision = revision + 1
    where client_id = @clientId returning ${CLIENT_COLUMNS}`,
);

/** What of an application may be changed. */
export type ClientSettings = Pick<Client, 'name' | 'redirectUri' | 'allowedRights' | 'most'>;

/**
 * Changes an application, within a transaction. Its new revision makes pages shown before and codes not yet exchanged stale.
 *
 * @returns the application before and after, the same object when there was nothing to change; null when there is none
 */
export async function updateClient(
  db: Database,
  clientId: string,
  change: Partial<ClientSettings>,
): Promise<{ before: Client; after: Client } | null> {
  const before = await queryOne<Client>(db, lock({ clientId }));
  if (before === null) return null;
  const news = effectiveChange(before, change);
  if (Object.keys(news).length === 0) return { before, after: before };
  const changed = { ...before, ...news };
  return { before, after: await queryRow<Client>(db, write({ ...changed, ...limitOf(changed) })) };
}

const remove = statement(
  'client-delete',
  ['clientId'],
  'delete from clients where client_id = @clientId returning client_id',
);

/** Deletes a client with its secrets and grants, within a transaction. @returns whether there was one */
export async function deleteClient(connection: pg.PoolClient, clientId: string): Promise<boolean> {
  return (await queryLong(connection, remove({ clientId }))).length > 0;
}
