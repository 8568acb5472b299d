import type pg from 'pg';
import type { Device } from '../../rules/account/userAgent.ts';
import type { Caller, RequestMeta } from '../../rules/common/caller.ts';
import { MAX_SESSION_HOURS, SESSION_IDLE_MINUTES } from '../../rules/common/lifetimes.ts';
import { MAX_SESSIONS } from '../../rules/common/limits.ts';
import type { Client } from '../../rules/request/client.ts';
import type { Digest } from '../../secrets/digest.ts';
import { batched } from '../database/batch.ts';
import { decidingStatement, momentOf } from '../database/deadline.ts';
import { findEach, visibleAsciiOrEmpty, write, writeEach } from '../database/query.ts';
import { CALLER_FROM_PARAMETERS, insertEventsSql } from './auditEvents.ts';
import { CLIENT_COLUMNS } from './clients.ts';
import type { User } from './users.ts';

/** Shortest interval between records of page views, so that reading pages doesn't write a row each time. */
const SEEN_INTERVAL = '1 minute';

export interface Session {
  readonly sessionHash: Digest;
  readonly user: User & { readonly hasPaymentPassword: boolean };
  /** For the comparison with user input; pages have `hasPaymentPassword`. */
  readonly paymentPasswordHash: string | null;
  /** The database's clock at reading time, for every lifetime on the page. */
  readonly now: Date;
}

const HAS_ENDED = `(s.seen_at < clock_timestamp() - interval '${SESSION_IDLE_MINUTES} minutes'
                     or s.created_at < clock_timestamp() - interval '${MAX_SESSION_HOURS} hours')`;

/** A session's id, from the SHA-256 of its cookie: a digest that opens nothing, 32 hex digits. */
export const sessionIdOf = (hash: string) => `substr(encode(sha256(${hash}), 'hex'), 1, 32)`;

/** For `sessions s`: true if its cookie still signs a user in. */
export const SESSION_IS_VALID = `not ${HAS_ENDED}`;

/** A sign-in with a right password or at the provider, and its origin. */
export interface NewSession extends Device {
  /** SHA-256 of the new cookie value. */
  readonly sessionHash: Digest;
  readonly userId: string;
  /** The stored hash that the password was checked against; null at the provider. */
  readonly passwordHash: string | null;
  /** The `sub` of the provider's answer; null for a password. */
  readonly externalId: string | null;
  /** SHA-256 of the browser's earlier cookie, if any. */
  readonly earlierHash: Digest | null;
  /** Such as `203.0.113.0/24`; null if unknown. */
  readonly network: string | null;
  /** True if the user has signed in here before. */
  readonly knownDevice: boolean;
}

// For programs that notify users of a sign-in.
const ORIGIN = `jsonb_build_object('known_device', @knownDevice::boolean, 'browser', @browser::text, 'system', @system::text,
  'session', ${sessionIdOf('@sessionHash::bytea')})`;

/**
 * Signs a user in: the browser's earlier session and the user's expired ones end. A password change waits for the share lock,
 * or this fails. @returns `valid`: false if the password changed or the user was blocked during the check; the `language` last
 * chosen by the user
 */
export const insertSession = decidingStatement<
  NewSession & Caller,
  { valid: boolean; language: string | null }
>('session-insert')`
with locked as (
  select user_id, language from users
   where user_id = @userId and (password_hash = @passwordHash or external_id = @externalId) and status = 'active' for share
), ending as (
  select s.session_hash from sessions s, locked
   where s.session_hash = @earlierHash or (s.user_id = locked.user_id and (${HAS_ENDED} or s.session_hash in (
           select session_hash from sessions where user_id = @userId
            order by created_at desc offset ${MAX_SESSIONS - 1})))
   order by s.session_hash for update of s
), ${momentOf('locked', 'ending')}, signed_in as (
  insert into sessions (session_hash, user_id, browser, system, network)
  select @sessionHash, user_id, @browser, @system, @network from locked, moment where not late
), ended as (
  delete from sessions s using ending, moment where s.session_hash = ending.session_hash and not late
), logged as (
  ${insertEventsSql({ kind: `'signed_in'`, user_id: 'user_id', detail: ORIGIN, ...CALLER_FROM_PARAMETERS }, 'locked, moment where not late')}
)
select exists (select from locked) as valid, (select language from locked) as language, late from moment`;

// `offset 0` makes PostgreSQL look up each row by its key, whatever its statistics: an ANALYZE during a bulk load finds a table
// empty, and a join planned by that reads the whole table for each request.
const VALID_SESSION = `
select s.session_hash as "sessionHash", u.user_id as "userId", u.login, u.name as "userName", u.status as "userStatus",
       u.external_id as "externalId", u.payment_password_hash as "paymentPasswordHash", clock_timestamp() as now,
       s.seen_at < clock_timestamp() - interval '${SEEN_INTERVAL}' as unseen
  from (select * from sessions where session_hash = input.session_hash offset 0) s
 cross join lateral (select * from users where user_id = s.user_id offset 0) u
 where u.status = 'active' and not ${HAS_ENDED}`;

interface SessionRow extends Omit<Session, 'user'>, Omit<User, 'name' | 'status'> {
  readonly userName: string;
  readonly userStatus: User['status'];
  /** No page view was recorded in the last minute. */
  readonly unseen: boolean;
}

// A locked row is being updated to the same.
const markSeen = writeEach<Digest>('session-mark-seen', { session_hash: (hash) => hash })`
update sessions set seen_at = clock_timestamp()
 where session_hash = any (array(
   select session_hash from sessions where session_hash = any (@session_hash::bytea[]) for no key update skip locked))`;

/** An error is ignored, as a page must not fail by it. */
async function recordViews(
  pool: pg.Pool,
  rows: readonly (Pick<SessionRow, 'sessionHash' | 'unseen'> | null)[],
) {
  const unseen = rows.flatMap((row) => (row?.unseen ? row.sessionHash : []));
  // Not in the same statement: most reads record nothing, and one that could write costs PostgreSQL twice as much.
  if (unseen.length > 0) await markSeen(pool, unseen).catch(() => {});
}

const findSessions = findEach<Digest, SessionRow>('session-find', { session_hash: (hash) => hash })`
select n::int as n, s.* from @input(session_hash bytea) cross join lateral (${VALID_SESSION}) s`;

/** The session of a cookie; null if it is unknown, expired or idle for too long, or its user is blocked. Records page views. */
export const findSession = batched('session-find', async (pool: pg.Pool, hashes: readonly Digest[]) => {
  const rows = await findSessions(pool, hashes);
  await recordViews(pool, rows);
  return rows.map((row) => row && sessionOf(row));
});

/** What a request names: its application, and the session of the browser that brings it; null for none. */
interface Named {
  readonly clientId: string;
  readonly sessionHash: Digest | null;
}

const findNamed = findEach<Named, Client & SessionRow>('request-find', {
  client_id: ({ clientId }) => visibleAsciiOrEmpty(clientId),
})`
select n::int as n, c.*, s.* from @input(client_id text, session_hash bytea)
  left join lateral (select ${CLIENT_COLUMNS} from clients where client_id = input.client_id offset 0) c on true
  left join lateral (${VALID_SESSION}) s on true`;

/** The application and the session of a request, as of `findClient` and {@link findSession}; every page of a request needs both. */
export const findClientAndSession = batched(
  'request-find',
  async (pool: pg.Pool, named: readonly Named[]) => {
    const rows = await findNamed(pool, named);
    await recordViews(pool, rows);
    return rows.map((row) => ({
      client: row?.clientId ? clientOf(row) : null,
      session: row?.sessionHash ? sessionOf(row) : null,
    }));
  },
);

/** Without the session's columns: the hash of a password must not travel with an application. */
function clientOf(row: Client & SessionRow): Client {
  const { sessionHash: _session, paymentPasswordHash: _password, ...client } = row;
  return client;
}

function sessionOf(row: SessionRow): Session {
  const { sessionHash, paymentPasswordHash, now, userId, login, userName, userStatus, externalId } = row;
  const hasPaymentPassword = paymentPasswordHash !== null;
  const user = { userId, login, name: userName, status: userStatus, externalId, hasPaymentPassword };
  return { sessionHash, user, paymentPasswordHash, now };
}

export const deleteSession = write<{ sessionHash: Digest } & RequestMeta>('session-delete')`
with ended as (
  delete from sessions where session_hash = @sessionHash returning user_id
)
${insertEventsSql({ kind: `'signed_out'`, user_id: 'user_id', ...CALLER_FROM_PARAMETERS }, 'ended')}`;

export const deleteSessionsOfUser = write<{ userId: string }>('session-delete-of-user')`
  delete from sessions where user_id = @userId`;
