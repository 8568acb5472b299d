import { type Bytea, type Database, select } from './database.ts';

const insert = {
  name: 'resource-insert',
  text: 'insert into resources (resource_id, name, secret_hash) values ($1, $2, $3)',
};

/** Registers a caller of introspection. @param secretHash SHA-256 of its secret */
export async function insertResource(
  db: Database,
  resourceId: string,
  name: string,
  secretHash: Bytea,
): Promise<void> {
  await select(db, insert, [resourceId, name, secretHash]);
}
