import { type Database, select, selectOne } from './database.ts';

const insert = {
  name: 'resource-insert',
  text: 'insert into resources (resource_id, name, secret_hash) values ($1, $2, $3)',
};

/** Registers a caller of introspection. @param secretHash SHA-256 of its secret */
export async function insertResource(
  db: Database,
  resourceId: string,
  name: string,
  secretHash: Buffer,
): Promise<void> {
  await select(db, insert, [resourceId, name, secretHash]);
}

const find = {
  name: 'resource-find',
  text: 'select name from resources where resource_id = $1 and secret_hash = $2',
};

/** The resource with this id and secret; undefined when either is wrong. */
export function findResource(
  db: Database,
  resourceId: string,
  secretHash: Buffer,
): Promise<{ name: string } | undefined> {
  return selectOne<{ name: string }>(db, find, [resourceId, secretHash]);
}
