import type { Status } from '../rules/client.ts';
import type { Database } from './database/database.ts';
import { queryOne } from './database/query.ts';
import { statement } from './database/statement.ts';
import type { SecretOwner } from './secrets.ts';

const setStatus = (kind: SecretOwner) =>
  statement<{ id: string; status: Status }>(
    `${kind}-set-status`,
    `with changed as (
       update ${kind}s set status = @status where ${kind}_id = @id and status <> @status returning ${kind}_id
     )
     select exists (select from changed) as changed from ${kind}s where ${kind}_id = @id`,
  );

const SET_STATUS = { client: setStatus('client'), resource: setStatus('resource') };

/**
 * Blocks or unblocks; every endpoint sees it with its next statement.
 *
 * @returns whether the status was another before; null when there is no such client or resource server
 */
export async function updateStatus(
  db: Database,
  kind: SecretOwner,
  id: string,
  status: Status,
): Promise<boolean | null> {
  const row = await queryOne<{ changed: boolean }>(db, SET_STATUS[kind]({ id, status }));
  return row?.changed ?? null;
}
