import { type Bytea, type Database, select, selectOne } from './database.ts';

/** What may be told of a client secret. The secret itself is nowhere. */
export interface ClientSecret {
  readonly secretId: string;
  readonly createdAt: Date;
  /** The day of its last exchange, as `2026-11-20`; null when there was none. */
  readonly lastUsedOn: string | null;
  readonly retiredAt: Date | null;
}

const insert = {
  name: 'client-secret-insert',
  text: 'insert into client_secrets (client_id, secret_id, secret_hash) values ($1, $2, $3)',
};

/** @param secretHash SHA-256 of the secret */
export async function insertClientSecret(
  db: Database,
  clientId: string,
  secretId: string,
  secretHash: Bytea,
): Promise<void> {
  await select(db, insert, [clientId, secretId, secretHash]);
}

const list = {
  name: 'client-secret-list',
  text: `select secret_id as "secretId", created_at as "createdAt", to_char(last_used_on, 'YYYY-MM-DD') as "lastUsedOn",
                retired_at as "retiredAt"
           from client_secrets where client_id = $1 order by created_at, secret_id`,
};

/** The secrets of a client, live and retired, oldest first. */
export function listClientSecrets(db: Database, clientId: string): Promise<ClientSecret[]> {
  return select<ClientSecret>(db, list, [clientId]);
}

const retire = {
  name: 'client-secret-retire',
  text: `with live as (
           select secret_id from client_secrets where client_id = $1 and retired_at is null order by secret_id for update
         ), retired as (
           update client_secrets set retired_at = clock_timestamp()
            where client_id = $1 and secret_id = $2 and retired_at is null
              and ($3 or (select count(*) from live) > 1)
           returning secret_id
         )
         select exists (select from live where secret_id = $2) as found, exists (select from retired) as retired`,
};

/**
 * Retires a secret, the last live one only when forced: without any, a verified application can't exchange.
 *
 * @returns `found`: there is such a live secret; `retired`: it is retired now
 */
export async function retireClientSecret(
  db: Database,
  clientId: string,
  secretId: string,
  force: boolean,
): Promise<{ found: boolean; retired: boolean }> {
  const row = await selectOne<{ found: boolean; retired: boolean }>(db, retire, [clientId, secretId, force]);
  return row ?? { found: false, retired: false };
}
