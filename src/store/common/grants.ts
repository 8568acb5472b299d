import type pg from 'pg';
import type { GrantTimes } from '../../rules/account/grantState.ts';
import { MAX_SUMMED_SCOPE_CHARACTERS } from '../../rules/common/limits.ts';
import { BUILT_IN_RIGHTS } from '../../rules/scope/rights.ts';
import type { Digest } from '../../secrets/digest.ts';
import { findOneBatched } from '../database/batch.ts';
import { findOne, requireRow } from '../database/query.ts';

/** A user's authorization for one application instance, in any state. */
export interface Grant extends GrantTimes {
  readonly grantId: string;
  readonly userId: string;
  readonly clientId: string;
  readonly instanceName: string | null;
  readonly revision: number;
  readonly scope: string;
  readonly confirmedAt: Date;
  /** The day (UTC) of its token's last introspection, as `2026-11-20`; null before the first. */
  readonly lastUsedOn: string | null;
  /** The database's clock at reading time. */
  readonly now: Date;
}

/** The select list of a {@link Grant}, from `grants g`. */
export const GRANT_COLUMNS = `g.grant_id as "grantId", g.user_id as "userId", g.client_id as "clientId",
  g.instance_name as "instanceName", g.revision, g.scope, g.confirmed_at as "confirmedAt",
  to_char(g.last_used_on, 'YYYY-MM-DD') as "lastUsedOn",
  g.code_expires_at as "codeExpiresAt", g.token_issued_at as "tokenIssuedAt", g.revoked_at as "revokedAt",
  clock_timestamp() as now`;

// The states of `rules/account/grantState.ts`, for `grants g`, as far as PostgreSQL needs them.

/** `isLive`: the code can be exchanged, or the token used. */
export const IS_LIVE = 'is_live(g.code_expires_at, g.token_issued_at, g.revoked_at)';

const SPENDING = [...BUILT_IN_RIGHTS].flatMap(([name, { spends }]) => (spends ? name : []));
/** What a scope that spends contains: the first word of such a right, or a limit. */
const SIGNS = [...new Set(SPENDING.map((name) => name.replace(/[.-].*/, ''))), '.limit('];
const QUOTED = String.raw`"([^"\\]|\\.)*"`;

/**
 * `spends` for a scope: a word outside quotation marks is a built-in right that spends, or a limit, which every other one has.
 * Without one of `SIGNS`, which are cheap to find, it doesn't spend.
 */
export const spendsSql = (scope: string) =>
  `((${SIGNS.map((sign) => `position('${sign}' in ${scope}) > 0`).join(' or ')})
     and string_to_array(replace(replace(regexp_replace(${scope}, '${QUOTED}', '', 'g'), '.limit(', ' .limit '), '(', ' '), ' ')
     && '{.limit,${SPENDING.join()}}')`;

/** The days of a scope's `.until(day)`, each as a row `(day)`. */
export const lastDaysSql = (scope: string) =>
  `select distinct day[1]::date from regexp_matches(regexp_replace(${scope}, '${QUOTED}', '', 'g'), '\\.until\\(([0-9-]+)\\)', 'g') as found(day)
    where position('.until(' in ${scope}) > 0`;

export const CODE_IS_USABLE =
  'g.token_hash is null and g.revoked_at is null and g.code_expires_at > clock_timestamp()';

interface Instance extends Pick<Grant, 'grantId' | 'userId' | 'clientId'> {
  /** The user's maximum of live ones for this application. */
  readonly maxInstances: number;
}

/** An instance's grant, whose columns are null if the user has never allowed it anything. */
interface InstanceRow extends Grant {
  /** The instance is live, or may become so with the user's others. Only the newest are counted; approval counts all. */
  readonly mayHold: boolean;
  /** The user has never allowed this application anything, under any name; of very many grants the newest are read. */
  readonly firstSeen: boolean;
  /** The scopes of this application's other instances that are live and spend; null if too many to read. */
  readonly others: readonly string[] | null;
}

/** Grants read beyond the allowed ones: bounds the cost of a page. */
const MAX_BESIDE = 1_000;

const find = findOneBatched<Instance, InstanceRow>('grant-find')`
select input.n::int as n, ${GRANT_COLUMNS},
       coalesce(${IS_LIVE}, false) or input.max_instances > beside.live as "mayHold",
       g.grant_id is null and beside.known = 0 as "firstSeen",
       case when beside.read < input.max_instances + ${MAX_BESIDE} and length(beside.scopes::text) <= ${MAX_SUMMED_SCOPE_CHARACTERS}
            then beside.scopes end as others
  from @input(grant_id uuid, user_id uuid, client_id text, max_instances bigint)
  left join lateral (select * from grants where grant_id = input.grant_id offset 0) g on true  -- offset 0: see sessions.ts
  cross join lateral (
    select count(*) as read, count(*) filter (where is_other) as known, count(*) filter (where is_live) as live,
           coalesce(json_agg(scope) filter (where is_live and ${spendsSql('g.scope')}), '[]') as scopes
      from (select *, is_other and ${IS_LIVE} as is_live
              from (select *, client_id = input.client_id and grant_id <> input.grant_id as is_other
                      from (select * from grants where user_id = input.user_id
                             order by confirmed_at desc limit input.max_instances + ${MAX_BESIDE}) newest) g) g
  ) beside`;

export async function findInstance(pool: pg.Pool, instance: Instance) {
  const found = requireRow(await find(pool, instance), 'grant-find');
  const { mayHold, firstSeen, others } = found;
  return { grant: found.grantId === null ? null : found, mayHold, firstSeen, others };
}

type GrantOfToken = Grant & Record<'login' | 'clientName' | 'refused', string | null>;

/** A token's grant, and the reason why the token is refused in any state; null if unknown. */
export const findGrantOfToken = findOne<{ grantId: string | null; hash: Digest }, GrantOfToken>(
  'grant-find-of-token',
)`
  select ${GRANT_COLUMNS}, u.login, c.name as "clientName",
         case when g.token_hash is distinct from @hash then 'replaced by a later authorization, or never issued'
              when c.status <> 'active' then 'client blocked' when u.status <> 'active' then 'user blocked' end as refused
    from grants g join clients c using (client_id) join users u using (user_id) where g.grant_id = @grantId`;
