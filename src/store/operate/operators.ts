import type { AccessLevel } from '../../rules/account/role.ts';
import type { Digest } from '../../secrets/digest.ts';
import { keysetListBy } from '../common/conditions.ts';
import { findAll, findExactlyOne, findOne, write } from '../database/query.ts';

/** A program with a token for the operators' API. */
export interface Operator {
  readonly name: string;
  readonly role: AccessLevel;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** The day, as `2026-11-20`; null before the first. */
  readonly lastUsedOn: string | null;
  readonly retiredAt: Date | null;
  readonly status: 'active' | 'expired' | 'retired';
}

const STATUS = `case when retired_at is not null then 'retired' when expires_at <= clock_timestamp() then 'expired' else 'active' end`;

const COLUMNS = `name, ${STATUS} as status, role, created_at as "createdAt", expires_at as "expiresAt", retired_at as "retiredAt",
  to_char(last_used_on, 'YYYY-MM-DD') as "lastUsedOn"`;

/** `tokenHash` is the SHA-256 of the token, which ends after `days` and by `until`. @returns null if the name is or was another's */
export const insertOperator = findOne<
  Pick<Operator, 'name' | 'role'> & { days: number; until: Date | null; tokenHash: Digest },
  Operator
>('operator-insert')`
  insert into operators (name, role, token_hash, expires_at)
  values (@name, @role, @tokenHash, least(clock_timestamp() + @days::int * interval '1 day', @until))
  on conflict (name) do nothing returning ${COLUMNS}`;

export const listOperators = keysetListBy<Operator>('name', COLUMNS, 'operators', STATUS);

export const findOperators = findAll<void, Operator>('operator-find-all')`
  select ${COLUMNS} from operators order by name`;

/** Notes the day of the token's use. @param name also finds its operator; an active one comes first @returns null for neither */
export const findOperatorByToken = findOne<{ tokenHash: Digest; name: string | null }, Operator>(
  'operator-find',
)`
with used as (
  update operators set last_used_on = current_date
   where token_hash = @tokenHash and last_used_on is distinct from current_date)
select ${COLUMNS} from operators where token_hash = @tokenHash or name = @name order by status limit 1`;

/** For metrics: seconds until the first active token ends. @param others ends of tokens elsewhere */
export const findTokenFacts = findExactlyOne<
  { others: readonly (Date | null)[] },
  { tokenLeft: number | null }
>('operator-token-facts')`
select extract(epoch from min(expires_at) - clock_timestamp())::float8 as "tokenLeft"
  from (select expires_at from operators where retired_at is null union select unnest(@others::timestamptz[])) as ends
 where expires_at > clock_timestamp()`;

export const retireOperator = write<Pick<Operator, 'name'>>('operator-retire')`
  update operators set retired_at = clock_timestamp() where name = @name and retired_at is null`;
