import { type Database, execute, query, queryOne } from './database.ts';

/** A server of the payment API that may ask what a token allows. */
export interface Resource {
  readonly resourceId: string;
  readonly name: string;
  readonly status: 'active' | 'blocked';
}

const RESOURCE_COLUMNS = 'resource_id as "resourceId", name, status';

const find = {
  name: 'resource-find',
  text: `select ${RESOURCE_COLUMNS} from resources where resource_id = $1`,
};

export function findResource(db: Database, resourceId: string): Promise<Resource | undefined> {
  return queryOne<Resource>(db, find, [resourceId]);
}

const list = {
  name: 'resource-list',
  text: `select ${RESOURCE_COLUMNS} from resources order by created_at, resource_id`,
};

/** Every resource server, in the order of registration. */
export function listResources(db: Database): Promise<Resource[]> {
  return query<Resource>(db, list, []);
}

const insert = {
  name: 'resource-insert',
  text: 'insert into resources (resource_id, name) values ($1, $2)',
};

/** Registers a caller of introspection. */
export async function insertResource(db: Database, resourceId: string, name: string): Promise<void> {
  await execute(db, insert, [resourceId, name]);
}

const markStatus = {
  name: 'resource-mark-status',
  text: `with changed as (update resources set status = $2 where resource_id = $1 and status <> $2 returning resource_id)
         select exists (select from changed) as changed from resources where resource_id = $1`,
};

/** Blocks or unblocks; introspection sees it with its next statement. @returns whether it was another before; undefined when there is no such resource server */
export async function markResourceStatus(
  db: Database,
  resourceId: string,
  status: Resource['status'],
): Promise<boolean | undefined> {
  return (await queryOne<{ changed: boolean }>(db, markStatus, [resourceId, status]))?.changed;
}

const remove = {
  name: 'resource-delete',
  text: 'delete from resources where resource_id = $1',
};

/** Deletes a resource server with its secrets. @returns whether there was one */
export async function deleteResource(db: Database, resourceId: string): Promise<boolean> {
  return (await execute(db, remove, [resourceId])) > 0;
}
