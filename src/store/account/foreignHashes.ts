import type pg from 'pg';
import { findAll, findOne, queryLong } from '../database/query.ts';
import { statement } from '../database/statement.ts';

// A foreign hash is another service's, of an imported user. `hash_form` is its form with all parameters, null for ours.

// A form that is unknown may be anything, even a password.
const KNOWN = String.raw`'^[$]?(2[aby]|argon2(d|i|id)|scrypt|pbkdf2[-_]sha\d+)([$,][a-z]{0,2}=?\d+)+$'`;

const SAMPLED = 200;

/** Foreign password hashes of users drawn at random, ordered by form, and at least one as long as there is any. */
export const findForeignSample = findAll<void, { hash: string }>(
  'user-sample-foreign-hashes',
  `
select hash from (
  select u.password_hash as hash
    from (select gen_random_uuid() as at from generate_series(1, ${SAMPLED})) drawn
   cross join lateral (select password_hash from users where user_id >= drawn.at order by user_id limit 1) u
   where hash_form(u.password_hash) is not null
  union all
  (select password_hash from users where hash_form(password_hash) is not null and hash_form(password_hash) ~ ${KNOWN}
    order by hash_form(password_hash) limit 1)
) sample order by hash_form(hash)`,
);

const renewal = (column: 'password' | 'payment_password') =>
  findOne<Record<'userId' | 'hash' | 'newHash', string>, { hash: string | null }>(
    `user-renew-${column}`,
    `with found as (
  select user_id, ${column}_hash as hash from users where user_id = @userId and status = 'active' for no key update
), renewed as (
  update users u set ${column}_hash = @newHash from found where u.user_id = found.user_id and found.hash = @hash
)
select hash from found`,
  );

/** Replaces a hash unless it changed meanwhile. @returns the one found, null for a user who is blocked or gone */
export const renewHash = {
  password: renewal('password'),
  'payment password': renewal('payment_password'),
};

const count = statement(
  'user-count-foreign-hashes',
  `select case when form ~ ${KNOWN} then form end as form, count(*)::int as count
     from (select unnest(array[hash_form(password_hash), hash_form(payment_password_hash)]) as form from users) hashes
    where form is not null group by 1 order by 2 desc, 1`,
);

/** Numbers of foreign hashes by form, null for unknown ones; payment passwords too. It reads all users. */
export const countForeignHashes = (pool: pg.Pool) =>
  queryLong<{ form: string | null; count: number }>(pool, count());
