import type { Caller } from '../rules/caller.ts';
import type { Digest } from '../secrets/digest.ts';
import { OF_CALLER, recordEvents } from './auditEvents.ts';
import type { Database } from './database/database.ts';
import { decideOne, momentOf } from './database/deadline.ts';
import { statement } from './database/statement.ts';
import { type Session, sessionIdOf } from './sessions.ts';

/** A payment password that is right, for one authorization request. */
export interface PaymentConfirmation extends Pick<Session, 'sessionHash'> {
  readonly requestDigest: Digest;
  readonly clientId: string;
  /** The stored hash that the payment password was checked against. */
  readonly paymentPasswordHash: string;
}

const markConfirmed = statement<PaymentConfirmation & Caller>(
  'session-mark-confirmed',
  `
with locked as (
  select s.session_hash, s.user_id, jsonb_build_object('session', ${sessionIdOf('s.session_hash')}) as detail
    from sessions s join users u using (user_id)
   where s.session_hash = @sessionHash and u.payment_password_hash = @paymentPasswordHash
     for no key update of s
), ${momentOf('locked')}, confirmed as (
  update sessions s set confirmed_request = @requestDigest, confirmed_at = clock_timestamp()
    from locked, moment where s.session_hash = locked.session_hash and not late
), logged as (
  ${recordEvents({ kind: `'payment_confirmed'`, user_id: 'user_id', client_id: '@clientId', detail: 'detail', ...OF_CALLER }, 'locked, moment where not late')}
)
select exists (select from locked) as valid, late from moment`,
);

/**
 * Records that the payment password confirmed this very request.
 *
 * @returns false when the session ended or the payment password was changed while it was being checked
 * @throws {TooLateError}
 */
export async function setSessionConfirmed(
  db: Database,
  confirmation: PaymentConfirmation,
  caller: Caller,
): Promise<boolean> {
  const decision = markConfirmed({ ...confirmation, ...caller });
  return (await decideOne<{ valid: boolean }>(db, decision, caller.decideBy)).valid;
}
