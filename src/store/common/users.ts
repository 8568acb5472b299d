import type pg from 'pg';
import { loginKey } from '../../rules/account/loginKey.ts';
import type { RequestMeta } from '../../rules/common/caller.ts';
import type { Status } from '../../rules/request/client.ts';
import type { Database } from '../database/database.ts';
import { findOne, write } from '../database/query.ts';
import { CALLER_FROM_PARAMETERS, insertEventsSql } from './auditEvents.ts';
import { keysetListBy, type ListFilter } from './conditions.ts';

export interface User {
  readonly userId: string;
  readonly login: string;
  readonly name: string;
  readonly status: Status;
  /** The user's id in another system, unique; null for none. */
  readonly externalId: string | null;
}

export interface UserWithPasswords extends User, PasswordHashes {}

export interface PasswordHashes {
  /** Null for none, as below. */
  readonly passwordHash: string | null;
  readonly paymentPasswordHash: string | null;
}

const USER_COLUMNS = 'user_id as "userId", login, name, status, external_id as "externalId"';
const PASSWORD_COLUMNS = 'password_hash as "passwordHash", payment_password_hash as "paymentPasswordHash"';

/** The user whose login has this {@link loginKey}, of any status. */
export const findUserByKey = findOne<{ key: string }, UserWithPasswords>('user-find-by-key')`
  select ${USER_COLUMNS}, ${PASSWORD_COLUMNS} from users where login_key = @key`;

/** SQL for the user id that a text is, null if it is none. A login that is another user's would hide its own user. */
export const userIdSql = (text: string) =>
  `case when ${text} ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then ${text}::uuid end`;

const find = findOne<{ id: string; key: string }, UserWithPasswords>('user-find')`
  select ${USER_COLUMNS}, ${PASSWORD_COLUMNS} from users where user_id = ${userIdSql('@id')} or login_key = @key
   order by login_key = @key limit 1`;

/** By user id, or else by the login in any spelling; of any status. */
export const findUser = (db: Database, name: string) =>
  find(db, { id: name.toLowerCase(), key: loginKey(name) });

/** By the `sub` at the provider; of any status. */
export const findUserByExternalId = findOne<{ externalId: string }, User>('user-find-by-external-id')`
  select ${USER_COLUMNS} from users where external_id = @externalId`;

type Named = Pick<User, 'login' | 'name'> & { key: string; alike: readonly string[] } & RequestMeta;

const IS_TAKEN = `(login_look(login_key) = any (array(select login_look(look) from unnest(@alike::text[]) look))
  or external_id in (@login, @key) or user_id = ${userIdSql('@key')})`;

/** Registers a user of the provider, without passwords. @returns null if external id or login is another's, or a twin (`alike`) */
export const insertExternalUser = findOne<Named & Pick<User, 'externalId'>, User>('user-insert-external')`
with made as (
  insert into users (login, login_key, name, external_id) select @login, @key, @name, @externalId
   where not exists (select from users where ${IS_TAKEN})
  on conflict do nothing returning *
), logged as (
  ${insertEventsSql({ kind: `'user_created'`, user_id: 'user_id', detail: `'{"by": "provider"}'::jsonb`, ...CALLER_FROM_PARAMETERS }, 'made')}
)
select ${USER_COLUMNS} from made`;

/** Name and login at the provider, of which `fields` are new. @returns null for a taken login, and for a blocked user */
export const updateExternalUser = findOne<Named & { userId: string; fields: readonly string[] }, User>(
  'user-update-external',
)`
with renamed as (
  update users u set name = @name, login = @login, login_key = @key where user_id = @userId and status = 'active'
     and not exists (select from users where user_id <> u.user_id and ${IS_TAKEN}) returning *
), logged as (
  ${insertEventsSql({ kind: `'user_updated'`, user_id: 'user_id', detail: `jsonb_build_object('by', 'provider', 'fields', @fields::text[])`, ...CALLER_FROM_PARAMETERS }, 'renamed')}
)
select ${USER_COLUMNS} from renamed`;

const list = keysetListBy<User>('login_key', USER_COLUMNS, 'users');

/** As `words_of` of the schema parts them. */
const BETWEEN_WORDS = /[@.,:;+\-_/\\()'"&|!<>*\s]+/;

/** A query of PostgreSQL's text search: each word begins one of the user's. */
const beginningsOf = (words: string) =>
  words
    .split(BETWEEN_WORDS)
    .filter(Boolean)
    .map((word) => `'${word}':*`)
    .join(' & ');

/** The matching users, ordered by login, in pages. @param filter `search` finds 200 at most */
export const listUsers = (
  pool: pg.Pool,
  { after, login, search, ...filter }: ListFilter,
): AsyncGenerator<User[]> => {
  const keys = { after: after && loginKey(after), login: login && loginKey(login) };
  return list(pool, { ...filter, ...keys, search: search && beginningsOf(search) });
};

export const updateLanguage = write<{ userId: string; language: string }>('user-set-language')`
  update users set language = @language where user_id = @userId and language is distinct from @language`;

/** @param key of the login @returns null if the login is taken, or a user's id */
export const insertUser = findOne<
  Pick<User, 'login' | 'name'> & PasswordHashes & { key: string },
  Pick<User, 'userId'>
>('user-insert')`
  insert into users (login, login_key, name, password_hash, payment_password_hash)
  select @login, @key, @name, @passwordHash, @paymentPasswordHash
   where not exists (select from users where user_id = ${userIdSql('@key')})
  on conflict (login_key) do nothing returning user_id as "userId"`;

/**
 * Sets new values: null leaves one as it is, and an empty external id removes it. `key` is the new login's.
 * @returns null if the user was deleted, or the login is another user's or an id, or the external id is another's
 */
export const updateUser = findOne<
  Record<'login' | 'name' | 'externalId' | 'key', string | null> & { userId: string },
  User
>('user-update')`
  update users u set login = coalesce(@login, login), login_key = coalesce(@key, login_key), name = coalesce(@name, name),
         external_id = nullif(coalesce(@externalId, external_id), '')
   where user_id = @userId and not exists (
     select from users where user_id <> u.user_id
        and (login_key = @key or external_id = @externalId or user_id = ${userIdSql('@key')}))
  returning ${USER_COLUMNS}`;

/** Sets a password, and a payment password unless it is null. @returns null if unknown */
export const updateUserPasswords = findOne<PasswordHashes & { userId: string }, { changed: boolean }>(
  'user-set-passwords',
)`
  update users set password_hash = @passwordHash,
                   payment_password_hash = coalesce(@paymentPasswordHash, payment_password_hash)
   where user_id = @userId returning true as changed`;
