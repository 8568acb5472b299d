import { findLong, findOne } from '../database/query.ts';

// A foreign hash is another service's, of an imported user. `hash_form` is its form with all parameters, null for ours, and
// `readable_form` the same, null for what `foreignHash.js` can't read: that may be anything, even a password.

/** A foreign hash of the users from an id on, or else of any: `at` decides the form, each nearly as common as among users. */
export const findForeignHash = findOne<{ at: string }, { hash: string }>('user-find-foreign-hash')`
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
  Record<'userId' | 'guarded' | 'hash' | 'newHash', string>,
  { hash: string | null }
>('user-renew-hash')`
update users set password_hash = case password_hash when @hash then @newHash else password_hash end,
                 payment_password_hash = case payment_password_hash when @hash then @newHash else payment_password_hash end
 where user_id = @userId and status = 'active'
returning case @guarded when 'password' then password_hash else payment_password_hash end as hash`;

/** Numbers of foreign hashes by form, null for unknown ones; payment passwords too. It reads all users. */
export const countForeignHashes = findLong<void, { form: string | null; count: number }>(
  'user-count-foreign-hashes',
)`
  select readable_form(hash) as form, count(*)::int as count
    from (select unnest(array[password_hash, payment_password_hash]) as hash from users) hashes
   where hash_form(hash) is not null group by 1 order by 2 desc, 1`;
