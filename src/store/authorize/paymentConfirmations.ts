import type { Caller } from '../../rules/common/caller.ts';
import { CONSENT_FORM_MS, PAYMENT_CONFIRMATION_MS } from '../../rules/common/lifetimes.ts';
import type { Digest } from '../../secrets/digest.ts';
import { OF_CALLER, recordEvents } from '../common/auditEvents.ts';
import { type Session, sessionIdOf } from '../common/sessions.ts';
import { decision, momentOf } from '../database/deadline.ts';

/** A right payment password, or the provider's confirmation, for one authorization request. */
interface PaymentConfirmation extends Pick<Session, 'sessionHash'> {
  readonly requestDigest: Digest;
  readonly clientId: string;
  /** The stored hash that the payment password was checked against; null if the provider confirmed. */
  readonly paymentPasswordHash: string | null;
  /** The `sub` of the provider's answer; null if a payment password confirmed. */
  readonly externalId: string | null;
}

/** Confirmed requests kept in a session in addition to the last: their pages may be open at the same time. */
const MAX_BEFORE = 8;

/** Longest time from the confirmation to the request of the consent page, plus from there to its submission. */
const KEPT = `interval '${PAYMENT_CONFIRMATION_MS + CONSENT_FORM_MS} milliseconds'`;

/** For a decision `r` and its session `s`: the payment password confirmed this request, in time for the submitted page. */
export const IS_CONFIRMED = `greatest(case when s.confirmed_request = r.request_digest then s.confirmed_at end,
  (s.confirmed_before ->> encode(r.request_digest, 'hex'))::timestamptz) > greatest(r.form_expires_at, clock_timestamp()) - ${KEPT}`;

/** For `update sessions s set`: a confirmation is valid for one approval `r`. */
export const USE_CONFIRMATION = `confirmed_request = nullif(s.confirmed_request, r.request_digest),
  confirmed_before = s.confirmed_before - encode(r.request_digest, 'hex')`;

/** For `sessions s`: the earlier confirmations, including the last one so far. */
const BEFORE = `(select coalesce(jsonb_object_agg(request, at), '{}') from (
    select * from jsonb_each_text(s.confirmed_before || jsonb_build_object(coalesce(encode(s.confirmed_request, 'hex'), ''), s.confirmed_at))
        as earlier (request, at)
     where at::timestamptz > clock_timestamp() - ${KEPT} order by at desc limit ${MAX_BEFORE}) kept)`;

/** Records the confirmation of this request. @returns `valid`: false if the session ended or the payment password changed */
export const setSessionConfirmed = decision<PaymentConfirmation & Caller, { valid: boolean }>(
  'session-mark-confirmed',
  `
with locked as (
  select s.session_hash, s.user_id, jsonb_build_object('session', ${sessionIdOf('s.session_hash')}) as detail
    from sessions s join users u using (user_id)
   where s.session_hash = @sessionHash and (u.payment_password_hash = @paymentPasswordHash or u.external_id = @externalId)
     for no key update of s
), ${momentOf('locked')}, confirmed as (
  update sessions s set confirmed_request = @requestDigest, confirmed_at = clock_timestamp(), confirmed_before = ${BEFORE}
    from locked, moment where s.session_hash = locked.session_hash and not late
), logged as (
  ${recordEvents({ kind: `'payment_confirmed'`, user_id: 'user_id', client_id: '@clientId', detail: 'detail', ...OF_CALLER }, 'locked, moment where not late')}
)
select exists (select from locked) as valid, late from moment`,
);
