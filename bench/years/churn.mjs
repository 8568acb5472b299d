import { randomBytes } from 'node:crypto';
import { grantOf } from '../people.mjs';

// The row changes of the store's statements, for as many rows as a busy server's full batch, without their guards:
// the same columns are written in the same order, so that tables and indexes age alike.

const BATCH = 128;
/** One of so many approvals begins with a sign-in: a session lasts for a working day. */
const FLOWS_A_SIGN_IN = 5;
/** Maximum of signed-in browsers. */
const MAX_SESSIONS = 50_000;

/** The tables without their own settings for autovacuum, and with the fill factors of the first migrations. */
export const AS_SHIPPED = `
do $$ declare one record; begin
  for one in select c.oid::regclass as name, option_name as option from pg_class c, pg_options_to_table(reloptions)
              where relkind = 'r' and relnamespace = 'public'::regnamespace
                and (option_name like 'autovacuum%' or (option_name = 'fillfactor' and relname not in ('grants', 'throttles')))
  loop execute format('alter table %s reset (%I)', one.name, one.option); end loop;
end $$;
alter table grants set (fillfactor = 80);
alter table throttles set (fillfactor = 70);
`;

const EVENT = `insert into audit_events (kind, grant_id, user_id, client_id, scope, address, reference)`;

const DECIDE = `update users set decisions = least(decisions + 1, 1000), decided_at = clock_timestamp() where user_id = any ($1::uuid[])`;
const APPROVE = `with written as (
   update grants g set revision = revision + 1, code_hash = sha256(uuid_send(gen_random_uuid())), confirmed_at = clock_timestamp(),
          code_expires_at = clock_timestamp() + interval '50 seconds', token_hash = null, token_issued_at = null,
          revoked_at = null, last_used_on = null
    where grant_id = any ($1::uuid[]) returning grant_id, user_id, client_id, scope)
 ${EVENT} select 'approved_again', grant_id, user_id, client_id, scope, '203.0.113.7', left(md5(grant_id::text), 16) from written`;
const EXCHANGE = `with written as (
   update grants g set token_hash = sha256(uuid_send(gen_random_uuid())), token_issued_at = clock_timestamp()
    where grant_id = any ($1::uuid[]) returning grant_id, user_id, client_id, scope)
 ${EVENT} select 'exchanged', grant_id, user_id, client_id, scope, '203.0.113.7', left(md5(grant_id::text), 16) from written`;
const REVOKE = `with written as (
   update grants g set revoked_at = clock_timestamp(), revision = revision + 1
    where grant_id = any ($1::uuid[]) returning grant_id, user_id, client_id, scope)
 ${EVENT} select 'revoked_by_user', grant_id, user_id, client_id, scope, '203.0.113.7', left(md5(grant_id::text), 16) from written`;
const USE = `update grants set last_used_on = current_date
  where grant_id = any ($1::uuid[]) and last_used_on is distinct from current_date`;
const SEEN = `update sessions set seen_at = clock_timestamp() where session_hash = any ($1::bytea[])`;
const SIGN_IN = `with signed_in as (
   insert into sessions (session_hash, user_id, browser, system, network)
   select h, u, 'Firefox', 'Linux', '203.0.113.0/24' from unnest($1::bytea[], $2::uuid[]) as s (h, u) returning user_id)
 insert into audit_events (kind, user_id, detail, address, reference)
 select 'signed_in', user_id, '{"known_device": true, "browser": "Firefox", "system": "Linux"}', '203.0.113.7', '' from signed_in`;
const SIGN_OUT = `delete from sessions where session_hash = any ($1::bytea[])`;
/** Like counting: rows are locked by an update that changes nothing, and then written; once before and once after. */
const COUNT = [
  `insert into throttles as t (slot) select s from unnest($1::int[]) as s order by s
   on conflict (slot) do update set level = t.level`,
  `update throttles set level = random() * 3, counted_at = clock_timestamp(), free_at = clock_timestamp()
    where slot = any ($1::int[])`,
];
const DENY = [
  `insert into rejections select sha256(uuid_send(gen_random_uuid())), clock_timestamp() + interval '10 seconds' from generate_series(1, 8)`,
  `delete from rejections where page_hash = any (array(
     select page_hash from rejections where expires_at < clock_timestamp() order by expires_at limit 16 for update skip locked))`,
];
const REFUSE = `insert into refusals (at, reference, method, path, status, error, rule)
 select clock_timestamp(), md5(random()::text), 'POST', '/oauth/token', 400, 'invalid_grant', 'code is unknown' from generate_series(1, 8)
 on conflict (slot) do update set at = excluded.at, reference = excluded.reference`;

const REVOKED = BATCH / 8;
/** An approval and an exchange of each grant of a batch, and an eighth as many revocations. */
const TRANSITIONS_A_TURN = 2 * BATCH + REVOKED;

/** Slots of the counters, and their number for a sign-in: its login's, its network's and both together's. */
const SLOTS = 5 * 2 ** 18;
const COUNTERS = 3;

/** Signed-in browsers. @type {Buffer[]} */
const sessions = [];

/**
 * @param {import('pg').Client[]} connections each runs one turn after the other @param {number} grants in the database
 * @param {number} transitions in all @param {(done: number) => Promise<void>} onProgress
 */
export async function churn(connections, grants, transitions, onProgress) {
  let done = 0;
  await Promise.all(
    connections.map(async (db) => {
      while (done < transitions) {
        done += TRANSITIONS_A_TURN;
        await turn(db, anyGrants(grants), (done / TRANSITIONS_A_TURN) % FLOWS_A_SIGN_IN === 0);
        await onProgress(done);
      }
    }),
  );
}

/** So many different grants, in key order, as every statement locks them. @param {number} grants */
function anyGrants(grants) {
  const chosen = /** @type {Set<number>} */ (new Set());
  while (chosen.size < BATCH) chosen.add(Math.floor(Math.random() * grants));
  return [...chosen].map(grantOf).sort((one, other) => (one.grantId < other.grantId ? -1 : 1));
}

/** @param {import('pg').Client} db @param {ReturnType<typeof anyGrants>} chosen @param {boolean} withSignIns */
async function turn(db, chosen, withSignIns) {
  const ids = chosen.map(({ grantId }) => grantId);
  const users = [...new Set(chosen.map(({ userId }) => userId))].sort();
  if (withSignIns) await signIn(db, users);
  await db.query(SEEN, [anySessions()]);
  await inOrder(db, [DECIDE, [users]], [APPROVE, [ids]]);
  await db.query(EXCHANGE, [ids]);
  await db.query(USE, [ids]);
  await db.query(REVOKE, [ids.slice(0, REVOKED)]);
  for (const text of DENY) await db.query(text);
  await db.query(REFUSE);
}

/** @param {import('pg').Client} db @param {string[]} users */
async function signIn(db, users) {
  const slots = users.flatMap(() =>
    Array.from({ length: COUNTERS }, () => Math.floor(Math.random() * SLOTS)),
  );
  const sorted = [[...new Set(slots)].sort((one, other) => one - other)];
  for (let counted = 0; counted < 2; counted += 1) await inOrder(db, ...COUNT.map((text) => [text, sorted]));
  const hashes = users.map(() => randomBytes(32));
  await db.query(SIGN_IN, [hashes, users]);
  sessions.push(...hashes);
  const ended = sessions.splice(0, Math.max(0, sessions.length - MAX_SESSIONS));
  if (ended.length > 0) await db.query(SIGN_OUT, [ended]);
}

/** Statements of one transaction. @param {import('pg').Client} db @param {any[][]} statements */
async function inOrder(db, ...statements) {
  await db.query('begin');
  for (const [text, values] of statements) await db.query(text, values);
  await db.query('commit');
}

function anySessions() {
  const from = Math.floor(Math.random() * Math.max(1, sessions.length - BATCH));
  return sessions.slice(from, from + BATCH).sort(Buffer.compare);
}
