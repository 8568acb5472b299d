import { MAX_SESSION_HOURS, SESSION_IDLE_MINUTES } from '../rules/lifetimes.ts';
import { MAX_SESSIONS } from '../rules/limits.ts';
import type { Digest } from '../secrets/digest.ts';
import type { Caller } from './auditEvents.ts';
import { batched } from './batch.ts';
import { type Database, decideOne, momentOf, select, selectEach } from './database.ts';
import type { User } from './users.ts';

/** A page view is noted at most this often, so that reading pages doesn't write a row each time. */
const SEEN_INTERVAL = '1 minute';

/** A signed-in browser. */
export interface Session {
  readonly sessionHash: Digest;
  readonly user: User & { readonly paymentPasswordHash: string | null };
  /** Digest of the request that the payment password last confirmed, and when. */
  readonly confirmedRequest: Digest | null;
  readonly confirmedAt: Date | null;
  /** The database's clock when this was read: what every lifetime on the page is compared with. */
  readonly now: Date;
}

const HAS_ENDED = `(s.seen_at < clock_timestamp() - interval '${SESSION_IDLE_MINUTES} minutes'
                     or s.created_at < clock_timestamp() - interval '${MAX_SESSION_HOURS} hours')`;

/** Of `sessions s`: whether its cookie is still good. */
export const STANDS = `not ${HAS_ENDED}`;

// The share lock makes a change of the password wait for this sign-in, or this sign-in fail by it.
const insert = {
  name: 'session-insert',
  text: `
with held as (
  select user_id from users where user_id = $2 and password_hash = $3 and status = 'active' for share
), ending as (
  select s.session_hash from sessions s, held
   where s.session_hash = $4 or (s.user_id = held.user_id and (${HAS_ENDED} or s.session_hash in (
           select session_hash from sessions where user_id = $2 order by created_at desc offset ${MAX_SESSIONS - 1})))
   order by s.session_hash for update of s
), ${momentOf('$7', 'held', 'ending')}, signed_in as (
  insert into sessions (session_hash, user_id) select $1, user_id from held, moment where not late
), ended as (
  delete from sessions s using ending, moment where s.session_hash = ending.session_hash and not late
), logged as (
  insert into audit_events (kind, user_id, address, reference)
  select 'signed_in', user_id, $5, $6 from held, moment where not late
)
select exists (select from held) as valid, late from moment`,
};

/** A sign-in whose password was found right. */
export interface NewSession {
  /** SHA-256 of the new cookie value. */
  readonly sessionHash: Digest;
  readonly userId: string;
  /** The stored hash that the password was checked against. */
  readonly passwordHash: string;
  /** SHA-256 of the cookie that the browser sent, if any. */
  readonly earlierHash: Digest | null;
}

/**
 * Signs a user in. A session never outlives a sign-in: the one that the browser had before ends, and the
 * user's sessions that no cookie can use any more go with it.
 *
 * @returns false when the password was changed or the user blocked while it was being checked
 * @throws {TooLateError}
 */
export async function insertSession(db: Database, session: NewSession, caller: Caller): Promise<boolean> {
  const { sessionHash, userId, passwordHash, earlierHash } = session;
  const values = [sessionHash, userId, passwordHash, earlierHash, caller.address, caller.reference];
  return (await decideOne<{ valid: boolean }>(db, insert, values, caller.decideBy)).valid;
}

// Each session and each user is looked up by its key, whatever PostgreSQL believes about the tables: a subquery with
// `offset 0` is never merged into a join. An ANALYZE in the middle of a bulk load finds a table empty, and a join planned
// by that goes through all of it for each question.
const find = {
  name: 'session-find',
  text: `
with found as (
  select a.n, s.session_hash, s.user_id, s.confirmed_request, s.confirmed_at,
         u.login, u.name, u.status, u.payment_password_hash,
         s.seen_at < clock_timestamp() - interval '${SEEN_INTERVAL}' as unseen
    from unnest($1::bytea[]) with ordinality as a (session_hash, n)
   cross join lateral (select * from sessions where session_hash = a.session_hash offset 0) s
   cross join lateral (select * from users where user_id = s.user_id offset 0) u
   where u.status = 'active' and not ${HAS_ENDED}
), seen as (  -- nobody waits for another who notes the same
  update sessions set seen_at = clock_timestamp()
   where session_hash = any (array(
           select session_hash from sessions
            where session_hash = any (array(select session_hash from found where unseen))
              for no key update skip locked))
)
select n::int as n, session_hash as "sessionHash", user_id as "userId", login, name, status,
       payment_password_hash as "paymentPasswordHash", confirmed_request as "confirmedRequest",
       confirmed_at as "confirmedAt", clock_timestamp() as now
  from found`,
};

type SessionRow = Omit<Session, 'user'> & Session['user'];

/**
 * The session of a cookie, by its SHA-256; null when it is unknown, too old, unused for too long, or its user is blocked.
 */
export const findSession = batched(findSessions);

async function findSessions(db: Database, hashes: readonly Digest[]): Promise<(Session | null)[]> {
  const rows = await selectEach<SessionRow>(db, find, hashes, [hashes]);
  return rows.map((row) => row && sessionOf(row));
}

function sessionOf(row: SessionRow): Session {
  const { sessionHash, confirmedRequest, confirmedAt, now } = row;
  const { userId, login, name, status, paymentPasswordHash } = row;
  const user = { userId, login, name, status, paymentPasswordHash };
  return { sessionHash, confirmedRequest, confirmedAt, now, user };
}

const markConfirmed = {
  name: 'session-mark-confirmed',
  text: `
with held as (
  select s.session_hash, s.user_id from sessions s join users u using (user_id)
   where s.session_hash = $1 and u.payment_password_hash = $3
     for no key update of s
), ${momentOf('$7', 'held')}, confirmed as (
  update sessions s set confirmed_request = $2, confirmed_at = clock_timestamp()
    from held, moment where s.session_hash = held.session_hash and not late
), logged as (
  insert into audit_events (kind, user_id, client_id, address, reference)
  select 'payment_confirmed', user_id, $4, $5, $6 from held, moment where not late
)
select exists (select from held) as valid, late from moment`,
};

/**
 * Notes that the payment password confirmed this very request.
 *
 * @param paymentPasswordHash the stored hash that it was checked against
 * @returns false when the session ended or the payment password was changed while it was being checked
 * @throws {TooLateError}
 */
export async function markSessionConfirmed(
  db: Database,
  sessionHash: Digest,
  requestDigest: Digest,
  clientId: string,
  paymentPasswordHash: string,
  caller: Caller,
): Promise<boolean> {
  const about = [sessionHash, requestDigest, paymentPasswordHash, clientId];
  const values = [...about, caller.address, caller.reference];
  return (await decideOne<{ valid: boolean }>(db, markConfirmed, values, caller.decideBy)).valid;
}

const remove = { name: 'session-delete', text: 'delete from sessions where session_hash = $1' };

/** Signs out. */
export async function deleteSession(db: Database, sessionHash: Digest): Promise<void> {
  await select(db, remove, [sessionHash]);
}

const removeOfUser = { name: 'session-delete-of-user', text: 'delete from sessions where user_id = $1' };

/** Signs a user out everywhere. */
export async function deleteSessionsOfUser(db: Database, userId: string): Promise<void> {
  await select(db, removeOfUser, [userId]);
}
