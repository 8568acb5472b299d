import type { Status } from '../../rules/request/client.ts';
import { keysetListBy } from '../common/conditions.ts';
import { SPENDING_LOCK } from '../common/spendingLock.ts';
import type { Database } from '../database/database.ts';
import { findLong, findOne, write } from '../database/query.ts';

// What operators register has some statements alike; clients and users have files in `../common/`.

function statementsOf(kind: string) {
  const deleted = findLong<{ id: string }, object>(`${kind}-delete`, 0)`
    delete from ${kind}s where ${kind}_id = @id returning ${kind}_id`;
  return {
    /** Blocks or unblocks, at once for every endpoint. @returns `changed`: the status differed; null without such a row */
    setStatus: findOne<{ id: string; status: Status }, { changed: boolean }>(`${kind}-set-status`)`
    with alone as materialized (
      select pg_advisory_xact_lock(${SPENDING_LOCK})
    ), changed as (
      update ${kind}s set status = @status from alone
       where ${kind}_id = @id and status <> @status returning ${kind}_id
    )
    select exists (select from changed) as changed from ${kind}s where ${kind}_id = @id`,
    /** Deletes a row with its secrets, sessions and grants. @returns the number deleted: one or none */
    remove: async (db: Database, row: { id: string }) => (await deleted(db, row)).length,
  };
}

export const REGISTRATION_STATEMENTS = {
  client: statementsOf('client'),
  resource: statementsOf('resource'),
  user: statementsOf('user'),
};

/** A server of the payment API that may introspect tokens. */
export interface Resource {
  readonly resourceId: string;
  readonly name: string;
  readonly status: Status;
}

const RESOURCE_COLUMNS = 'resource_id as "resourceId", name, status';

export const findResource = findOne<Pick<Resource, 'resourceId'>, Resource>('resource-find')`
  select ${RESOURCE_COLUMNS} from resources where resource_id = @resourceId`;

export const listResources = keysetListBy<Resource>('resource_id', RESOURCE_COLUMNS, 'resources');

/** @returns the number inserted: none if the id is taken */
export const insertResource = write<Pick<Resource, 'resourceId' | 'name'>>('resource-insert')`
  insert into resources (resource_id, name) values (@resourceId, @name) on conflict do nothing`;
