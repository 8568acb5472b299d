import type { Digest } from '../../secrets/digest.ts';
import { findAll, findExactlyOne, write } from '../database/query.ts';

/** An application or a resource server may have several secrets at once. */
export type SecretOwner = 'client' | 'resource';

/** The secret itself is not stored. */
export interface SecretMetadata {
  readonly secretId: string;
  readonly createdAt: Date;
  /** The day of its last use, as `2026-11-20`; null before the first. */
  readonly lastUsedOn: string | null;
  readonly retiredAt: Date | null;
}

/** For secrets `s`: true if one is still accepted. */
export const SECRET_IS_ACCEPTED = 's.retired_at is null';

/** For secrets `s`: true if a use now is the day's first. */
export const IS_FIRST_USE = 's.last_used_on is distinct from current_date';

/** Notes today as the last use of secrets, except locked ones: those are being noted. @param used query for ids and hashes */
export const noteUse = (owner: SecretOwner, used: string) => `
  update ${owner}_secrets set last_used_on = current_date
   where (${owner}_id, secret_hash) in (
           select ${owner}_id, secret_hash from ${owner}_secrets
            where (${owner}_id, secret_hash) in (${used})
              for no key update skip locked)`;

// An application authenticates in a statement over a batch `r` with `client_id` and `secret_hash` (contract 4.2).

/** Joins the application `c` and, if it is the right one, the secret `s`. */
export const JOIN_CLIENT = `left join clients c on c.client_id = r.client_id
  left join client_secrets s on s.client_id = r.client_id and s.secret_hash = r.secret_hash and ${SECRET_IS_ACCEPTED}`;

/** A column `known`: the application is registered. */
export const CLIENT_IS_KNOWN_COLUMN = 'c.client_id is not null as known';

export const IS_UNKNOWN_OR_BLOCKED = `c.status is distinct from 'active'`;

/** Only verified applications have secrets. */
export const SECRET_IS_WRONG = 'c.verified and s.secret_hash is null';

function statementsOf(owner: SecretOwner) {
  const [table, id] = [`${owner}_secrets`, `${owner}_id`];
  return {
    /** @returns the number inserted: none if the owner has or had the secret */
    insert: write<{ ownerId: string; secretId: string; secretHash: Digest }>(`${owner}-secret-insert`)`
      insert into ${table} (${id}, secret_id, secret_hash) values (@ownerId, @secretId, @secretHash)
      on conflict (${id}, secret_hash) do nothing`,
    /** An owner's secrets, accepted and retired, oldest first. */
    list: findAll<{ ownerId: string }, SecretMetadata>(`${owner}-secret-list`)`
      select secret_id as "secretId", created_at as "createdAt", to_char(last_used_on, 'YYYY-MM-DD') as "lastUsedOn",
             retired_at as "retiredAt"
        from ${table} where ${id} = @ownerId order by created_at, secret_id`,
    /** Retires a secret; the last accepted one only if forced, since its owner couldn't authenticate without one. */
    retire: findExactlyOne<
      { ownerId: string; secretId: string; force: boolean },
      { found: boolean; retired: boolean }
    >(`${owner}-secret-retire`)`
      with accepted as (
        select secret_id from ${table} s where ${id} = @ownerId and ${SECRET_IS_ACCEPTED} order by secret_id for update
      ), retired as (
        update ${table} s set retired_at = clock_timestamp()
         where ${id} = @ownerId and secret_id = @secretId and ${SECRET_IS_ACCEPTED}
           and (@force or (select count(*) from accepted) > 1)
        returning secret_id
      )
      select exists (select from accepted where secret_id = @secretId) as found,
             exists (select from retired) as retired`,
  };
}

export const secretStatements = { client: statementsOf('client'), resource: statementsOf('resource') };
