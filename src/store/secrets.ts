import type { Digest } from '../secrets/digest.ts';
import { type Database, execute, query, queryOne } from './database.ts';

/** Who has secrets, several at a time if need be: an application, or a resource server. */
export type SecretOwner = 'client' | 'resource';

/** What may be told of a secret. The secret itself is nowhere. */
export interface Secret {
  readonly secretId: string;
  readonly createdAt: Date;
  /** The day when it was last shown to us, as `2026-11-20`; null when it never was. */
  readonly lastUsedOn: string | null;
  readonly retiredAt: Date | null;
}

function statementsOf(owner: SecretOwner) {
  const [table, id] = [`${owner}_secrets`, `${owner}_id`];
  return {
    insert: {
      name: `${owner}-secret-insert`,
      text: `insert into ${table} (${id}, secret_id, secret_hash) values ($1, $2, $3)`,
    },
    list: {
      name: `${owner}-secret-list`,
      text: `select secret_id as "secretId", created_at as "createdAt", to_char(last_used_on, 'YYYY-MM-DD') as "lastUsedOn",
                    retired_at as "retiredAt"
               from ${table} where ${id} = $1 order by created_at, secret_id`,
    },
    retire: {
      name: `${owner}-secret-retire`,
      text: `with live as (
               select secret_id from ${table} where ${id} = $1 and retired_at is null order by secret_id for update
             ), retired as (
               update ${table} set retired_at = clock_timestamp()
                where ${id} = $1 and secret_id = $2 and retired_at is null
                  and ($3 or (select count(*) from live) > 1)
               returning secret_id
             )
             select exists (select from live where secret_id = $2) as found, exists (select from retired) as retired`,
    },
  };
}

const STATEMENTS = { client: statementsOf('client'), resource: statementsOf('resource') };

/** @param id of the owner @param secretHash SHA-256 of the secret */
export async function insertSecret(
  db: Database,
  owner: SecretOwner,
  id: string,
  secretId: string,
  secretHash: Digest,
): Promise<void> {
  await execute(db, STATEMENTS[owner].insert, [id, secretId, secretHash]);
}

/** The secrets of an owner, live and retired, oldest first. */
export function listSecrets(db: Database, owner: SecretOwner, id: string): Promise<Secret[]> {
  return query<Secret>(db, STATEMENTS[owner].list, [id]);
}

/** What came of retiring a secret. */
export interface Retirement {
  /** There is such a live secret. */
  readonly found: boolean;
  /** It is retired now. */
  readonly retired: boolean;
}

/** Retires a secret, the last live one only when forced: without any, its owner can't say who it is. */
export async function markSecretRetired(
  db: Database,
  owner: SecretOwner,
  id: string,
  secretId: string,
  force: boolean,
): Promise<Retirement> {
  const row = await queryOne<Retirement>(db, STATEMENTS[owner].retire, [id, secretId, force]);
  return row ?? { found: false, retired: false };
}
