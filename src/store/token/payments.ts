import type { Caller } from '../../rules/common/caller.ts';
import type { Digest } from '../../secrets/digest.ts';
import { SPENDING_LOCK } from '../common/spendingLock.ts';
import { batchedDecidingStatement, decidingStatement, momentOf } from '../database/deadline.ts';

/** A payment that a resource server wants to make, with the limit that its right has in `scope`. */
export interface Reservation extends Pick<Caller, 'decideBy'> {
  readonly grantId: string;
  readonly tokenHash: Digest;
  /** The scope from which the rest was read: another one is judged anew. */
  readonly scope: string;
  readonly key: string;
  /** Equal for a repeat of the same payment. */
  readonly paymentHash: Digest;
  /** Why no right permits the payment; null if one does. */
  readonly refusal: string | null;
  readonly budget: Digest;
  readonly amount: string;
  /** The limit's period, null for one payment; its sum; the largest payment and the end of the last day, null for none. */
  readonly days: number | null;
  readonly most: string;
  readonly largest: string | null;
  readonly endsAt: Date | null;
}

/** The first that holds gives the verdict. `r` is the request, `g` its locked grant, `p` and `s` the states of payment and budget. */
const CHECKS = [
  [
    `g.grant_id is null or g.token_hash is distinct from r.token_hash or not p.is_active
         or not is_live(g.code_expires_at, g.token_issued_at, g.revoked_at)`,
    'inactive',
  ],
  ['p.known = r.payment_hash and not p.was_released', 'reserved'],
  ['p.known = r.payment_hash', 'released'],
  ['p.known is not null', 'key_reused'],
  // Too late for its callers: no further judgement.
  ['r.late', 'late'],
  ['g.scope <> r.scope', 'changed'],
] as const;

/** Refusals of a payment that a right permits. */
const LIMITS = [
  ['r.ends_at <= s.at', 'ended'],
  ['r.days is null and s.used > 0', 'used_up'],
  ['r.days is null and r.amount <> r.most', 'other_amount'],
  ['r.amount > r.largest', 'over_largest'],
  ['s.used + r.amount > r.most', 'over_budget'],
] as const;

export type PaymentRefusal = (typeof LIMITS)[number][1] | 'no_right' | 'wrong_currency' | 'wrong_source';

export interface ReservationResult {
  readonly verdict: Exclude<(typeof CHECKS)[number][1], 'late'> | PaymentRefusal;
  /** False for a repeat. */
  readonly isNew: boolean;
  /** Of the budget, in this period, with this payment; an exact decimal. Null without a right. */
  readonly used: string | null;
  /** When the oldest payment of the period no longer counts; null for none, or a one-time limit. */
  readonly freeAgain: Date | null;
}

const casesOf = (checks: readonly (readonly [string, string])[]) =>
  checks.map(([holds, verdict]) => `when ${holds} then '${verdict}'`).join('\n         ');

// The grant's lock parts payments of one grant from each other, and from a revocation, a replacement and a deletion. Blocking locks
// no grant: it waits for `SPENDING_LOCK`, which payments share, so none is reserved after its answer. `spent` and `payment_state`
// are called below both locks.
/** Judges a payment and reserves it. Repeated with one key and payment it has one result. @throws {OverloadedError} */
export const reservePayment = batchedDecidingStatement<ReservationResult, Reservation>(
  'payment-reserve',
  ({ grantId }) => grantId,
  { ends_at: ({ endsAt }) => endsAt?.toISOString() ?? null },
)`
with requests as materialized (
  select * from @input(grant_id uuid, token_hash bytea, scope text, key text, payment_hash bytea, refusal text, budget bytea,
                       amount numeric, days int, most numeric, largest numeric, ends_at timestamptz)
), locked as materialized (
  select * from grants where grant_id = any (@grant_id::uuid[])
   order by grant_id for no key update
), shared as materialized (
  select pg_advisory_xact_lock_shared(${SPENDING_LOCK}) from (select count(*) as rows from locked) l where rows >= 0
), ${momentOf('locked', 'shared')}, timed as materialized (
  select * from requests cross join moment
), judged as materialized (
  select r.*, g.token_issued_at, s.used, s.total, s.at, s.oldest_at,
    case ${casesOf(CHECKS)}
         when r.refusal is not null then r.refusal
         ${casesOf(LIMITS)}
         else 'to_reserve' end as verdict
  from timed r
  left join locked g on g.grant_id = r.grant_id
  left join lateral payment_state(g.grant_id, r.key, g.user_id, g.client_id) p on g.grant_id is not null
  left join lateral spent(g.grant_id, r.budget, r.days, g.token_issued_at) s on g.grant_id is not null
), written as (
  insert into payment_reservations (grant_id, budget, paid_at, key, payment_hash, amount, total, days, token_issued_at)
  select grant_id, budget, at, key, payment_hash, amount, total + amount, days, token_issued_at
    from judged where verdict = 'to_reserve'
  returning grant_id
)
select j.n::int as n, case when w.grant_id is null then j.verdict else 'reserved' end as verdict,
       w.grant_id is not null as "isNew", j.verdict = 'late' as late,
       (j.used + case when w.grant_id is null then 0 else j.amount end)::text as used,
       coalesce(j.oldest_at, case when w.grant_id is not null then j.at end) + j.days * interval '24 hours' as "freeAgain"
  from judged j left join written w using (grant_id)`;

/** `too_late`: its period has passed, so that it no longer counts. */
export type ReleaseVerdict = 'released' | 'unknown' | 'too_late';

/** Gives a payment's amount back to its budget, once, while it counts: the money did not move. @throws {OverloadedError} */
export const releasePayment = decidingStatement<
  Pick<Caller, 'decideBy'> & { grantId: string; key: string },
  { verdict: ReleaseVerdict }
>('payment-release')`
with locked as materialized (
  select grant_id from grants where grant_id = @grantId for no key update
), ${momentOf('locked')}, released as (
  update payment_reservations p set released_at = clock_timestamp()
    from locked, moment
   where p.grant_id = locked.grant_id and p.key = @key and p.released_at is null and not late
     and (p.days is null or p.paid_at > clock_timestamp() - p.days * interval '24 hours')
  returning p.key
)
select case when p.key is null then 'unknown'
            when p.released_at is not null or exists (select from released) then 'released'
            else 'too_late' end as verdict, late
  from moment left join payment_reservations p on p.grant_id = @grantId and p.key = @key`;
