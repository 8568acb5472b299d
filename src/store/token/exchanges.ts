import type { Caller } from '../../rules/common/caller.ts';
import type { Digest } from '../../secrets/digest.ts';
import {
  CALLER_FROM_COLUMNS,
  CALLER_INPUT_COLUMNS,
  EVENT_GRANT,
  insertEventsSql,
} from '../common/auditEvents.ts';
import {
  CLIENT_IS_KNOWN_COLUMN,
  IS_FIRST_USE,
  IS_UNKNOWN_OR_BLOCKED,
  JOIN_CLIENT,
  noteUse,
  SECRET_IS_WRONG,
} from '../common/secrets.ts';
import { batchedDecidingStatement, momentOf } from '../database/deadline.ts';
import { visibleAsciiOrEmpty } from '../database/query.ts';

export interface ExchangeRequest extends Caller {
  /** Null for a code that this server can't have issued: it is judged the same way, the client first. */
  readonly grantId: string | null;
  readonly codeHash: Digest;
  readonly clientId: string;
  /** SHA-256 of the client secret; null if none was sent. */
  readonly secretHash: Digest | null;
  readonly redirectUri: string;
  /** S256 of the code verifier; null if none was sent. */
  readonly challenge: string | null;
  /** SHA-256 of the token to issue. */
  readonly tokenHash: Digest;
}

/**
 * The checks of a token request in the contract's order (4.2, 7.2). The first that holds gives the verdict, and a request that
 * passes all gets its token. `r` is the request; `c`, `s`, `g`, `u` are rows of client, secret, grant, user.
 */
const CHECKS = [
  [IS_UNKNOWN_OR_BLOCKED, 'client_unknown_or_blocked'],
  [SECRET_IS_WRONG, 'secret_wrong'],
  // Never issued to this client, or replaced by a later one.
  ['g.grant_id is null or g.client_id <> r.client_id or g.code_hash <> r.code_hash', 'code_unknown'],
  // The same request again, after its result was lost with the connection.
  ['g.token_hash = r.token_hash and g.revoked_at is null', 'issued'],
  // Too late for its callers: no further judgement.
  ['m.late', 'late'],
  ['g.code_expires_at <= clock_timestamp()', 'code_expired'],
  // An operator changed the client after the code was issued.
  ['g.client_revision <> c.revision and g.token_hash is null', 'client_changed'],
  [
    'g.redirect_uri <> r.redirect_uri and g.token_hash is null and g.revoked_at is null',
    'redirect_uri_differs',
  ],
  ['g.redirect_uri <> r.redirect_uri', 'code_used'],
  ['g.code_challenge is not null and r.challenge is null', 'verifier_missing'],
  ['g.code_challenge is null and r.challenge is not null', 'verifier_unneeded'],
  ['g.code_challenge <> r.challenge', 'verifier_mismatch'],
  // Used a second time by its client: the token issued for it is revoked.
  ['g.token_hash is not null and g.revoked_at is null', 'code_replayed'],
  ['g.token_hash is not null or g.revoked_at is not null', 'code_used'],
  [`u.status <> 'active'`, 'user_blocked'],
] as const;

export type ExchangeVerdict = Exclude<(typeof CHECKS)[number][1], 'issued' | 'late'>;

type ExchangeResult =
  /** `scope` is the granted scope if less than requested; null otherwise. */
  | { readonly verdict: 'issued'; readonly issuedAt: Date; readonly scope: string | null }
  /** `known`: its client is registered. */
  | { readonly verdict: ExchangeVerdict; readonly known: boolean };

// One statement locks, judges and writes the row (contract 2.4, 3, 7.2): two exchanges of one code can't both see it unused. Rows
// are locked in key order, so that batches can't deadlock. A second exchange while the code is valid, even at the same time, is a
// replay: its token is revoked (RFC 6749 section 4.1.2). Later the code has expired, and the token stays. An `update … where
// token_hash is null` would also give one token, but the second request could not tell a replay from a replaced code.

/** Judges a token request. Repeated with one token hash it has one result: a connection lost after the commit loses nothing. */
export const exchangeCode = batchedDecidingStatement<ExchangeResult, ExchangeRequest>(
  'grant-exchange',
  ({ grantId }) => grantId,
  {
    client_id: ({ clientId }) => visibleAsciiOrEmpty(clientId),
    redirect_uri: ({ redirectUri }) => visibleAsciiOrEmpty(redirectUri),
  },
)`
with requests as materialized (
  select * from @input(grant_id uuid, code_hash bytea, client_id text, secret_hash bytea, redirect_uri text, challenge text,
                       token_hash bytea, ${CALLER_INPUT_COLUMNS})
), locked as materialized (
  select * from grants where grant_id = any (@grant_id::uuid[])
   order by grant_id for no key update
), ${momentOf('locked')}, judged as materialized (
  select r.n, r.grant_id, r.token_hash, r.address, r.reference, g.token_issued_at, g.scope, g.lowered, s.client_id, s.secret_hash,
    s.secret_hash is not null and ${IS_FIRST_USE} as first_use, ${CLIENT_IS_KNOWN_COLUMN},
    case
      ${CHECKS.map(([holds, verdict]) => `when ${holds} then '${verdict}'`).join('\n      ')}
      else 'to_issue'
    end as verdict
  from requests r
 cross join moment m
  ${JOIN_CLIENT}
  left join locked g on g.grant_id = r.grant_id
  left join lateral (select status from users where user_id = g.user_id offset 0) u on true  -- see ../common/sessions.ts
), issued as (
  update grants g set token_hash = j.token_hash, token_issued_at = clock_timestamp()
    from judged j where g.grant_id = j.grant_id and j.verdict = 'to_issue'
  returning j.n, g.grant_id, g.user_id, g.client_id, g.instance_name, g.scope, j.address, j.reference, g.token_issued_at
), revoked as (
  update grants g set revoked_at = clock_timestamp(), revision = g.revision + 1
    from judged j where g.grant_id = j.grant_id and j.verdict = 'code_replayed'
  returning g.grant_id, g.user_id, g.client_id, g.instance_name, g.scope, j.address, j.reference
), noted as (
  ${noteUse('client', 'select client_id, secret_hash from judged where first_use')}
), recorded_issues as (
  ${insertEventsSql({ kind: `'exchanged'`, ...EVENT_GRANT, ...CALLER_FROM_COLUMNS }, 'issued')}
), recorded_replays as (
  ${insertEventsSql({ kind: `'replayed'`, ...EVENT_GRANT, ...CALLER_FROM_COLUMNS }, 'revoked')}
)
select j.n::int as n,
       case when i.n is null then j.verdict else 'issued' end as verdict,
       j.verdict = 'late' as late, j.known,
       coalesce(i.token_issued_at, j.token_issued_at) as "issuedAt",
       case when j.lowered and (i.n is not null or j.verdict = 'issued') then j.scope end as scope
  from judged j left join issued i on i.n = j.n`;
