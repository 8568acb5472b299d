import { MAX_CODE_SECONDS } from '../../rules/lifetimes.ts';
import { IS_LIVE } from '../grants.ts';
import { TRAIL_BEGINS } from '../schema/auditPartitions.ts';
import { CLOCK_MARGIN, isNoDigest, type Source } from './question.ts';

/** As `grantIdFor` makes it: PostgreSQL's JSON escapes a string as JavaScript's does. */
const OWN_ID = `encode(substr(sha256(convert_to(concat('["', g.user_id, '",', to_json(g.client_id), ',',
  coalesce(to_json(g.instance_name)::text, 'null'), ']'), 'UTF8')), 1, 16), 'hex')::uuid`;

const now = 'clock_timestamp()';
/** Between the moment that a statement judges by and the one that it writes lies at most the statement. */
const STATEMENT = `interval '10 seconds'`;

/** Grants by themselves. */
export const GRANTS: Source<'grant_keys' | 'grant_hashes' | 'grant_times' | 'grant_lifetimes'> = {
  from: 'grants g',
  id: 'g.grant_id',
  broken: {
    grant_keys: `g.grant_id <> ${OWN_ID}`,
    grant_hashes: `${isNoDigest('g.code_hash')} or ${isNoDigest('g.token_hash')}`,
    grant_times: `g.token_issued_at < g.confirmed_at - ${CLOCK_MARGIN} or g.token_issued_at > g.code_expires_at + ${STATEMENT}
      or greatest(g.confirmed_at, g.token_issued_at, g.revoked_at) > ${now} + ${CLOCK_MARGIN}`,
    // The times are reckoned once more here, in case that is_live says something else.
    grant_lifetimes: `${IS_LIVE} and (g.code_expires_at > g.confirmed_at + interval '${MAX_CODE_SECONDS} seconds' + ${STATEMENT}
      or ${now} > coalesce((g.token_issued_at at time zone 'UTC' + case when g.token_issued_at < '2018-02-07Z' then interval '6 months' else interval '3 years' end)
                             at time zone 'UTC', g.code_expires_at) + ${STATEMENT})`,
  },
};

/**
 * Grants that have one key: the primary key forbids it, unless its index is broken. So this must read the table and not the
 * index, which lacks one of the two: neither order nor all columns come from there.
 */
export const DOUBLE_GRANTS: Source<'grant_doubles'> = {
  from: '(select grant_id::text from grants group by grant_id::text having count(revision) > 1) g',
  id: 'g.grant_id',
  broken: { grant_doubles: 'true' },
};

/** Kinds that raise the revision of a grant. */
const RAISING = `('approved', 'approved_again', 'replayed', 'revoked_by_user', 'revoked_by_application', 'revoked_by_operator')`;
const APPROVING = `('approved', 'approved_again')`;

/** An exchange lies behind its approval by so much at most. */
const EXCHANGE = `(interval '${MAX_CODE_SECONDS} seconds' + ${STATEMENT} + ${CLOCK_MARGIN})`;

/** Events of grants that are there, each with the last approval until then, and the last exchange before. Sorted without scopes. */
const HISTORY = `
select grant_id, at, kind, is_of_scope,
       coalesce(max(at) filter (where kind in ${APPROVING}) over history, '-infinity') as approved_until,
       max(at) filter (where kind = 'exchanged') over (history rows between unbounded preceding and 1 preceding) as exchanged_before
  from (select grant_id, at, kind, a.scope <> g.scope is not true as is_of_scope
          from audit_events a join grants g using (grant_id) offset 0) a window history as (partition by grant_id order by at)`;

const EVENTS = `
select grant_id, count(*) filter (where kind in ${RAISING}) as raised, count(*) filter (where kind = 'approved') as beginnings,
       max(at) filter (where kind in ${APPROVING}) as approved_at, max(at) filter (where kind = 'exchanged') as exchanged_at,
       max(at) filter (where kind in ${RAISING} and kind not in ${APPROVING}) as revoked_at,
       max(at) filter (where kind in ${APPROVING} and is_of_scope) as approved_so_at,
       bool_or(kind = 'exchanged' and (approved_until < exchanged_before
               or approved_until < at - ${EXCHANGE} and at - ${EXCHANGE} > ${TRAIL_BEGINS})) as exchanged_twice
  from (${HISTORY}) events group by grant_id`;

/** A time of a grant that the trail must know of, since it goes back so far, and knows of nothing that late. */
const isUnknown = (time: string, event: string) =>
  `(${time} > trail.begins + ${CLOCK_MARGIN} and (${event} is null or ${event} < ${time} - ${CLOCK_MARGIN}))`;

/**
 * Grants and their rows of the trail. Of what happened before its first month nothing is asked: that was pruned, or was before
 * there was a trail; a grant is no older than its user and its application. One that was deleted by hand and given anew begins
 * twice, and isn't counted.
 */
export const GRANTS_AND_EVENTS: Source<
  `trail_of_${'grants' | 'tokens' | 'revocations' | 'scopes' | 'exchanges'}` | 'revived' | 'revisions'
> = {
  from: `grants g left join (${EVENTS}) e using (grant_id) left join (select user_id, created_at as born_at from users) u using (user_id)
         left join (select client_id, created_at as born_at from clients) c using (client_id)
         cross join (select ${TRAIL_BEGINS} as begins) trail`,
  id: 'g.grant_id',
  broken: {
    trail_of_grants: isUnknown('g.confirmed_at', 'e.approved_at'),
    trail_of_tokens: `${IS_LIVE} and ${isUnknown('g.token_issued_at', 'e.exchanged_at')}`,
    trail_of_revocations: isUnknown('g.revoked_at', 'e.revoked_at'),
    trail_of_scopes: 'e.approved_so_at is distinct from e.approved_at',
    trail_of_exchanges: 'e.exchanged_twice',
    revived: `g.revoked_at is null and e.revoked_at > coalesce(e.approved_at, '-infinity')`,
    revisions: `case coalesce(e.beginnings, 0) when 1 then e.raised <> g.revision
      when 0 then e.raised >= g.revision or greatest(u.born_at, c.born_at) > trail.begins + ${CLOCK_MARGIN} else false end`,
  },
};

/** Rows whose user or application is not there: foreign keys forbid it, unless they were switched off. */
export const ORPHANS: Source<'orphans'> = {
  from: `(select 'grant ' || grant_id as id from grants g
           where not exists (select from users u where u.user_id = g.user_id)
              or not exists (select from clients c where c.client_id = g.client_id)
          union all
          select 'a session of user ' || user_id from sessions s where not exists (select from users u where u.user_id = s.user_id)
          union all
          select 'a secret of client ' || client_id from client_secrets s where not exists (select from clients c where c.client_id = s.client_id)
          union all
          select 'a secret of resource ' || resource_id from resource_secrets s
           where not exists (select from resources r where r.resource_id = s.resource_id)) o`,
  id: 'o.id',
  broken: { orphans: 'true' },
};
