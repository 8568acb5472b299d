import { type Database, select, selectOne } from './database.ts';
import type { User } from './users.ts';

const IDLE_LIFETIME = '30 minutes';
const ABSOLUTE_LIFETIME = '12 hours';
/** A page view is noted at most this often, so that reading pages doesn't write a row each time. */
const SEEN_INTERVAL = '1 minute';

/** A signed-in browser. */
export interface Session {
  readonly sessionHash: Buffer;
  readonly user: User & { readonly paymentPasswordHash: string | null };
  /** Digest of the request that the payment password last confirmed, and when. */
  readonly confirmedRequest: Buffer | null;
  readonly confirmedAt: Date | null;
  /** The database's clock when this was read: what every lifetime on the page is compared with. */
  readonly now: Date;
}

const HAS_ENDED = `(seen_at < clock_timestamp() - interval '${IDLE_LIFETIME}'
                     or created_at < clock_timestamp() - interval '${ABSOLUTE_LIFETIME}')`;

const insert = {
  name: 'session-insert',
  text: `with ended as (
           delete from sessions where session_hash = $3 or (user_id = $2 and ${HAS_ENDED})
         )
         insert into sessions (session_hash, user_id) values ($1, $2)`,
};

/**
 * Signs a user in. A session never outlives a sign-in: the one that the browser had before ends, and the
 * user's sessions that no cookie can use any more go with it.
 *
 * @param sessionHash SHA-256 of the new cookie value
 * @param earlierHash SHA-256 of the cookie that the browser sent, if any
 */
export async function insertSession(
  db: Database,
  sessionHash: Buffer,
  userId: string,
  earlierHash: Buffer | null,
): Promise<void> {
  await select(db, insert, [sessionHash, userId, earlierHash]);
}

const find = {
  name: 'session-find',
  text: `with found as (
           select s.*, u.login, u.name, u.status, u.payment_password_hash from sessions s join (select user_id, login, name, status, payment_password_hash from users) u using (user_id)
            where s.session_hash = $1 and u.status = 'active' and not ${HAS_ENDED}
         ), seen as (
           update sessions set seen_at = clock_timestamp()
            where session_hash in (select session_hash from found where seen_at < clock_timestamp() - interval '${SEEN_INTERVAL}')
         )
         select session_hash as "sessionHash", user_id as "userId", login, name, status,
                payment_password_hash as "paymentPasswordHash", confirmed_request as "confirmedRequest",
                confirmed_at as "confirmedAt", clock_timestamp() as now
           from found`,
};

type SessionRow = Omit<Session, 'user'> & Session['user'];

/** The session of a cookie; undefined when it is unknown, too old, unused for too long, or its user is blocked. */
export async function findSession(db: Database, sessionHash: Buffer): Promise<Session | undefined> {
  const row = await selectOne<SessionRow>(db, find, [sessionHash]);
  if (row === undefined) return undefined;
  const { confirmedRequest, confirmedAt, now, userId, login, name, status, paymentPasswordHash } = row;
  return {
    sessionHash,
    confirmedRequest,
    confirmedAt,
    now,
    user: { userId, login, name, status, paymentPasswordHash },
  };
}

const markConfirmed = {
  name: 'session-mark-confirmed',
  text: 'update sessions set confirmed_request = $2, confirmed_at = clock_timestamp() where session_hash = $1',
};

/** Notes that the payment password confirmed this very request. */
export async function markSessionConfirmed(
  db: Database,
  sessionHash: Buffer,
  requestDigest: Buffer,
): Promise<void> {
  await select(db, markConfirmed, [sessionHash, requestDigest]);
}

const remove = { name: 'session-delete', text: 'delete from sessions where session_hash = $1' };

/** Signs out. */
export async function deleteSession(db: Database, sessionHash: Buffer): Promise<void> {
  await select(db, remove, [sessionHash]);
}
