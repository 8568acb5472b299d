import type { Status } from '../rules/client.ts';
import type { Database } from './database/database.ts';
import { execute, query, queryOne } from './database/query.ts';
import { statement } from './database/statement.ts';

/** A server of the payment API that may ask what a token allows. */
export interface Resource {
  readonly resourceId: string;
  readonly name: string;
  readonly status: Status;
}

const RESOURCE_COLUMNS = 'resource_id as "resourceId", name, status';

const find = statement<Pick<Resource, 'resourceId'>>(
  'resource-find',
  `select ${RESOURCE_COLUMNS} from resources where resource_id = @resourceId`,
);

export const findResource = (db: Database, resourceId: string): Promise<Resource | null> =>
  queryOne(db, find({ resourceId }));

const list = statement(
  'resource-list',
  `select ${RESOURCE_COLUMNS} from resources order by created_at, resource_id`,
);

/** Every resource server, in the order of registration. */
export const listResources = (db: Database): Promise<Resource[]> => query(db, list());

const insert = statement<Pick<Resource, 'resourceId' | 'name'>>(
  'resource-insert',
  'insert into resources (resource_id, name) values (@resourceId, @name)',
);

/** Registers a resource server. */
export async function insertResource(db: Database, resourceId: string, name: string): Promise<void> {
  await execute(db, insert({ resourceId, name }));
}

const remove = statement<Pick<Resource, 'resourceId'>>(
  'resource-delete',
  'delete from resources where resource_id = @resourceId',
);

/** Deletes a resource server with its secrets. @returns whether there was one */
export async function deleteResource(db: Database, resourceId: string): Promise<boolean> {
  return (await execute(db, remove({ resourceId }))) > 0;
}
