import { sha256 } from '../dist/secrets/digest.js';
import { hashPassword } from '../dist/secrets/password.js';
import {
  CLIENTS,
  clientIdOf,
  clientSecretOf,
  FIRST_TOKEN,
  PASSWORD,
  REDIRECT_URI,
  RESOURCE,
  SCOPE,
} from './people.mjs';

const INSERT_CLIENTS = `
insert into clients (client_id, name, redirect_uri, verified, revision)
select client_id, 'Shop ' || n, $2, true, 1 from unnest($1::text[]) with ordinality as c (client_id, n)`;
const INSERT_SECRETS = `
insert into client_secrets (client_id, secret_id, secret_hash)
select client_id, 'first', secret_hash from unnest($1::text[], $2::bytea[]) as s (client_id, secret_hash)`;
const INSERT_RESOURCE = `
with resource as (insert into resources (resource_id, name) values ($1, $1) returning resource_id)
insert into resource_secrets (resource_id, secret_id, secret_hash) select resource_id, 'first', $2 from resource`;

/** All have the same password: a guess costs the server the same. */
const INSERT_USERS = `
insert into users (user_id, login, login_key, name, password_hash)
select md5('user ' || n)::uuid, 'user-' || n, 'user-' || n, 'User ' || n, $2 from generate_series(1, $1::int) n`;

/**
 * A grant's id, as from `deriveGrantId`: the first 16 bytes of the SHA-256 of a JSON list.
 *
 * @param {string} user @param {string} client
 */
export const GRANT_ID = (user, client) =>
  `encode(substr(sha256(convert_to('["' || ${user} || '","' || ${client} || '",null]', 'UTF8')), 1, 16), 'hex')::uuid`;

/**
 * Grants of the last three years, each exchanged long ago. In the order of the primary key, which fills a table of ten
 * million fastest; a user's grants are scattered, as in production.
 */
const INSERT_GRANTS = `
insert into grants (grant_id, user_id, client_id, revision, scope, redirect_uri, code_hash, code_expires_at,
                    token_hash, token_issued_at, confirmed_at)
select grant_id, user_id, client_id, 1, $1, $2, sha256(uuid_send(grant_id)), at + interval '50 seconds',
       sha256(convert_to(${FIRST_TOKEN('grant_id')}, 'UTF8')), at + interval '2 seconds', at
  from (select ${GRANT_ID('u.user_id', 'c.client_id')} as grant_id, u.user_id, c.client_id,
               clock_timestamp() - random() * interval '1000 days' as at
          from users u cross join clients c) g
 order by grant_id`;

const SECONDARY_INDEXES = `
select indexname as name, indexdef as definition from pg_indexes i
 where tablename = 'grants' and not exists (select from pg_constraint where conname = i.indexname)`;

/**
 * Fills a migrated, empty database with users, clients and one grant per pair.
 *
 * @param {import('pg').Client} db @param {number} grants a multiple of {@link CLIENTS}
 */
export async function fill(db, grants) {
  const clientIds = Array.from({ length: CLIENTS }, (_, client) => clientIdOf(client));
  const secretHashes = clientIds.map((_, client) => sha256(clientSecretOf(client)));
  await db.query(INSERT_CLIENTS, [clientIds, REDIRECT_URI]);
  await db.query(INSERT_SECRETS, [clientIds, secretHashes]);
  await db.query(INSERT_RESOURCE, [RESOURCE.id, sha256(RESOURCE.secret)]);
  await db.query(INSERT_USERS, [grants / CLIENTS, await hashPassword(PASSWORD)]);
  await db.query(`set work_mem = '1GB'; set maintenance_work_mem = '1GB'`);
  await withoutSecondaryIndexes(db, async () => {
    await db.query('set session_replication_role = replica'); // the foreign keys hold by construction
    await db.query(INSERT_GRANTS, [SCOPE, REDIRECT_URI]);
    await db.query('reset session_replication_role');
  });
  await db.query('vacuum analyze');
  await db.query('checkpoint');
}

/**
 * Drops and recreates indexes: ten million rows are indexed faster at once than one by one.
 *
 * @param {import('pg').Client} db @param {() => Promise<unknown>} work
 */
async function withoutSecondaryIndexes(db, work) {
  const { rows } = await db.query(SECONDARY_INDEXES);
  for (const { name } of rows) await db.query(`drop index ${name}`);
  await work();
  for (const { definition } of rows) await db.query(definition);
}
