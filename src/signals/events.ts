import { typedChannel } from './signal.ts';

/** Counted events, each with its outcomes: few and fixed, since they are labels of metrics. */
export const METRIC_EVENTS = {
  /** Counted once per Allow or Reject: a second click on the same page writes nothing. */
  decision: ['approved', 'rejected'],
  /** Live authorizations ended early, by cause; `approval`: replaced by a new one. */
  grantEnd: ['approval', 'user', 'application', 'replay'],
  /** Readable token requests by verdict: the checks of `store/token/exchanges.ts`. */
  exchange: [
    'issued',
    'client_unknown_or_blocked',
    'secret_wrong',
    'code_unknown',
    'code_expired',
    'client_changed',
    'redirect_uri_differs',
    'verifier_missing',
    'verifier_unneeded',
    'verifier_mismatch',
    'code_replayed',
    'code_used',
    'user_blocked',
  ],
  /** Payments that `SPENDING` counts, by verdict; a repeat is not counted again. */
  payment: [
    'reserved',
    'released',
    'key_reused',
    'no_right',
    'wrong_currency',
    'wrong_source',
    'ended',
    'used_up',
    'other_amount',
    'over_largest',
    'over_budget',
  ],
  /** `unavailable`: answered 503, or an internal error. */
  signIn: ['signed_in', 'wrong', 'wait', 'stale', 'unavailable'],
  paymentConfirmation: ['confirmed', 'wrong', 'wait', 'stale', 'unavailable'],
  /** Refusals for now: counters of `rules/account/throttle.ts`, decisions of a user, failures of a network. */
  throttle: ['device', 'place', 'login', 'network', 'right', 'decisions', 'failures'],
  /** Failed requests of the operators' API, by status: no token, too many without one, our faults. */
  operatorFailure: ['401', '429', '500', '503'],
} as const;

export type EventName = keyof typeof METRIC_EVENTS;
type Outcome<What extends EventName> = (typeof METRIC_EVENTS)[What][number];

export const eventChannel = typedChannel<{
  readonly what: EventName;
  readonly outcome: string;
  readonly times: number;
}>('happened');

/** Reports an event. Call it after the commit, and not again for a retry. */
export function emit<What extends EventName>(what: What, outcome: Outcome<What>, times = 1): void {
  if (times > 0) eventChannel.publish({ what, outcome, times });
}
