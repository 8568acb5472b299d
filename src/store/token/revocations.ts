import type pg from 'pg';
import type { Caller } from '../../rules/common/caller.ts';
import type { Digest } from '../../secrets/digest.ts';
import { emit } from '../../signals/events.ts';
import {
  type actorParameters,
  CALLER_FROM_PARAMETERS,
  CALLER_INPUT_COLUMNS,
  EVENT_GRANT,
  insertEventsSql,
} from '../common/auditEvents.ts';
import { IS_LIVE } from '../common/grants.ts';
import {
  CLIENT_IS_KNOWN_COLUMN,
  IS_UNKNOWN_OR_BLOCKED,
  JOIN_CLIENT,
  SECRET_IS_WRONG,
} from '../common/secrets.ts';
import type { Database } from '../database/database.ts';
import { batchedDecidingStatement, decidingStatement, momentOf } from '../database/deadline.ts';
import { visibleAsciiOrEmpty } from '../database/query.ts';

/** One kind of revocation, in SQL. */
interface Revocation {
  readonly kind: 'revoked_by_user' | 'revoked_by_application' | 'revoked_by_operator';
  readonly where: string;
  /** Columns of the audit event. */
  readonly by: Readonly<Partial<Record<'address' | 'reference' | 'operator' | 'detail', string>>>;
  /** The select list. It may read `locked`, all those grants, and `revoked`, those not revoked before. */
  readonly result: string;
  /** Further tables that `where`, `by` and `result` read. */
  readonly tables?: string;
  /** The tables of `result`, besides the one row of `moment`. */
  readonly from?: string;
}

// The only statement that revokes. Rows are locked in key order, so that two of these can't deadlock.
const revocation = ({ kind, where, by, result, tables = '', from = '' }: Revocation) => `
with ${tables} locked as (
  select grant_id from grants where ${where} order by grant_id for no key update
), ${momentOf('locked')}, revoked as (
  update grants g set revoked_at = clock_timestamp(), revision = g.revision + 1
    from locked, moment where g.grant_id = locked.grant_id and g.revoked_at is null and not late
  returning g.grant_id, g.user_id, g.client_id, g.instance_name, g.scope
), recorded as (
  ${insertEventsSql({ kind: `'${kind}'`, ...EVENT_GRANT, ...by }, 'revoked')}
)
select ${result}, late from moment ${from}`;

type OneOfUser = Caller & { readonly userId: string; readonly grantId: string };

const ofUser = decidingStatement<OneOfUser, { revoked: boolean }>('grant-revoke-of-user')`${revocation({
  kind: 'revoked_by_user',
  where: 'user_id = @userId and grant_id = @grantId',
  by: CALLER_FROM_PARAMETERS,
  result: 'exists (select from revoked) as revoked',
})}`;

/** The user disconnects an application instance. @throws {OverloadedError} */
export async function revokeGrantOfUser(db: Database, asked: OneOfUser): Promise<void> {
  const { revoked } = await ofUser(db, asked);
  if (revoked) emit('grantEnd', 'user');
}

/** Grants that one transaction revokes: a request that needs one of them waits for some tens of milliseconds. */
export const MAX_GRANTS_A_STATEMENT = 500;

/** Null for all applications. */
type AllOfUser = Caller & { readonly userId: string; readonly clientId: string | null };

const allOfUser = decidingStatement<AllOfUser, { hasMore: boolean; revoked: number }>(
  'grant-revoke-all-of-user',
)`${revocation({
  kind: 'revoked_by_user',
  where: `grant_id = any (array(
    select grant_id from (select * from grants where user_id = @userId offset 0) g
     where (@clientId::text is null or client_id = @clientId) and ${IS_LIVE} order by grant_id limit ${MAX_GRANTS_A_STATEMENT}))`,
  by: CALLER_FROM_PARAMETERS,
  result: `(select count(*) from locked) = ${MAX_GRANTS_A_STATEMENT} as "hasMore", (select count(*)::int from revoked) as revoked`,
})}`;

/** The user disconnects live instances of one application or all. @returns true if there may be more @throws {OverloadedError} */
export async function revokeGrantsOfUser(db: Database, asked: AllOfUser): Promise<boolean> {
  const { hasMore, revoked } = await allOfUser(db, asked);
  emit('grantEnd', 'user', revoked);
  return hasMore;
}

/** A revocation request about a token (RFC 7009). */
interface TokenRevocation extends Caller {
  /** Null for a token that this server can't have issued. */
  readonly grantId: string | null;
  readonly tokenHash: Digest;
  /** The requesting application; null if possession of the token suffices. */
  readonly clientId: string | null;
  /** SHA-256 of the client secret; null if none was sent. */
  readonly secretHash: Digest | null;
}

const byToken = batchedDecidingStatement<
  Record<'authenticated' | 'known' | 'revoked', boolean>,
  TokenRevocation
>('grant-revoke-by-token', ({ grantId }) => grantId, {
  client_id: ({ clientId }) => clientId && visibleAsciiOrEmpty(clientId),
})`${revocation({
  kind: 'revoked_by_application',
  tables: `requests as materialized (
  select r.*, r.client_id is null or not (${IS_UNKNOWN_OR_BLOCKED} or ${SECRET_IS_WRONG}) as authenticated, ${CLIENT_IS_KNOWN_COLUMN}
    from (select * from @input(grant_id uuid, token_hash bytea, client_id text, secret_hash bytea, ${CALLER_INPUT_COLUMNS})) r
  ${JOIN_CLIENT}
),`,
  where: `grant_id = any (@grant_id::uuid[]) and exists (
   select from requests r
    where r.authenticated and r.grant_id = grants.grant_id and r.token_hash = grants.token_hash
      and (r.client_id is null or r.client_id = grants.client_id))`,
  // A batch contains each grant at most once, see `rowOf` below.
  by: {
    address: '(select address from requests r where r.grant_id = revoked.grant_id)',
    reference: '(select reference from requests r where r.grant_id = revoked.grant_id)',
  },
  result:
    'r.n::int as n, authenticated, known, r.grant_id in (select grant_id from revoked) is true as revoked',
  from: 'cross join requests r',
})}`;

/** Revokes the given token, if the application authenticated; repeatable. `known`: it is registered; `revoked`: by this statement. @throws {OverloadedError} */
export async function revokeToken(pool: pg.Pool, asked: TokenRevocation) {
  const result = await byToken(pool, asked);
  if (result.revoked) emit('grantEnd', 'application');
  return result;
}

/** The operator revokes grants. @returns `revoked`: the number not revoked before */
export const revokeGrants = decidingStatement<
  Pick<Caller, 'decideBy'> & { grantIds: readonly string[] } & ReturnType<typeof actorParameters>,
  { revoked: number }
>('grant-revoke-by-operator')`${revocation({
  kind: 'revoked_by_operator',
  where: 'grant_id = any (@grantIds::uuid[])',
  by: { operator: '@operator', detail: '@detail::jsonb', ...CALLER_FROM_PARAMETERS },
  result: '(select count(*)::int from revoked) as revoked',
})}`;
