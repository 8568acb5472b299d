import type pg from 'pg';
import type { Caller } from '../../rules/common/caller.ts';
import type { Digest } from '../../secrets/digest.ts';
import { type AuditKind, CALLER_FROM_PARAMETERS, insertEventsSql } from '../common/auditEvents.ts';
import { SESSION_IS_VALID } from '../common/sessions.ts';
import type { PasswordHashes } from '../common/users.ts';
import { transaction } from '../database/database.ts';
import { decidingStatement, momentOf } from '../database/deadline.ts';
import { findLong, findOne, write } from '../database/query.ts';

/** Of a user with exactly these hashes: nothing changes if they have changed meanwhile. */
interface PasswordChange extends PasswordHashes, Caller {
  readonly userId: string;
  /** The current session, which continues; all others end. */
  readonly sessionHash: Digest;
  readonly kind: Extract<AuditKind, `${string}_changed`>;
  readonly newHash: string;
}

const lockUser = write<{ userId: string }>('user-lock')`
  select from users where user_id = @userId for no key update`;

const change = decidingStatement<PasswordChange, { changed: boolean }>('user-change-passwords')`
with locked as materialized (
  select user_id from users
   where user_id = @userId and status = 'active' and password_hash is not distinct from @passwordHash
     and payment_password_hash is not distinct from @paymentPasswordHash
     for no key update
), locked_sessions as materialized (
  select s.session_hash, s.session_hash = @sessionHash and ${SESSION_IS_VALID} as asks
    from sessions s where s.user_id = any (array(select user_id from locked))
   order by s.session_hash for update
), ${momentOf('locked', 'locked_sessions')}, changed as (
  update users u
     set password_hash = case @kind when 'password_changed' then @newHash else password_hash end,
         payment_password_hash = case @kind when 'payment_password_changed' then @newHash else payment_password_hash end
    from locked, moment where u.user_id = locked.user_id and not late and exists (select from locked_sessions where asks)
  returning u.user_id
), ended as (
  delete from sessions s using changed where s.user_id = changed.user_id and s.session_hash <> @sessionHash
), logged as (
  ${insertEventsSql({ kind: '@kind', user_id: 'user_id', ...CALLER_FROM_PARAMETERS }, 'changed')}
)
select exists (select from changed) as changed, late from moment`;

/**
 * Changes a password, and ends every other session of the user. A first statement locks the user, so that the second sees a
 * sign-in with the old password that this waited for. @throws {OverloadedError}
 * @returns false if the session or the passwords have changed, or the user is blocked
 */
export function replacePassword(pool: pg.Pool, asked: PasswordChange): Promise<boolean> {
  return transaction(pool, async (connection) => {
    await lockUser(connection, asked);
    return (await change(connection, asked)).changed;
  });
}

// A foreign hash is another service's, of an imported user. `hash_form` is its form with all parameters, null for ours, and
// `readable_form` the same, null for what `foreignHash.js` can't read: that may be anything, even a password.

/** A foreign hash of the users from an id on, or else of any: `at` decides the form, each nearly as common as among users. */
export const findForeignDecoyHash = findOne<{ at: string }, { hash: string }>('user-find-foreign-hash')`
with any_users as materialized (
  select password_hash as hash from users where hash_form(password_hash) is not null
   order by hash_form(password_hash) limit 100
), near as (
  select password_hash from users where user_id >= @at and exists (select from any_users) order by user_id limit 100
)
select hash from (table near union all table any_users) found(hash)
 where hash_form(hash) is not null and readable_form(hash) is not null limit 1`;

/** Replaces a hash unless it changed meanwhile. @returns the one stored now, null for a user who is blocked or gone */
export const renewHash = findOne<
  Record<'userId' | 'passwordKind' | 'hash' | 'newHash', string>,
  { hash: string | null }
>('user-renew-hash')`
update users set password_hash = case password_hash when @hash then @newHash else password_hash end,
                 payment_password_hash = case payment_password_hash when @hash then @newHash else payment_password_hash end
 where user_id = @userId and status = 'active'
returning case @passwordKind when 'password' then password_hash else payment_password_hash end as hash`;

/** Numbers of foreign hashes by form, null for unknown ones; payment passwords too. It reads all users. */
export const countForeignHashes = findLong<void, { form: string | null; count: number }>(
  'user-count-foreign-hashes',
)`
  select readable_form(hash) as form, count(*)::int as count
    from (select unnest(array[password_hash, payment_password_hash]) as hash from users) hashes
   where hash_form(hash) is not null group by 1 order by 2 desc, 1`;
