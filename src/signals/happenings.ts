import { Signal } from './signal.ts';

/** Counted happenings, each with its outcomes: few and fixed, for they are the labels of metrics. */
export const HAPPENINGS = {
  /** Written by Allow and Reject, each once: a second click on the same page writes nothing. */
  decision: ['approved', 'rejected'],
  /** Live authorizations that ended before their time, by what ended them; `approval`: annulled by a new one. */
  grantEnd: ['approval', 'user', 'application', 'replay'],
  /** Token requests that could be read, by verdict: the checks of `store/token/exchanges.ts`. */
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
  /** `unavailable`: answered 503, or a fault of ours. */
  signIn: ['signed_in', 'wrong', 'wait', 'stale', 'unavailable'],
  paymentConfirmation: ['confirmed', 'wrong', 'wait', 'stale', 'unavailable'],
  /** Told to wait: the counters of `rules/account/throttle.ts`, decisions of a user, failures of a network. */
  throttle: ['device', 'place', 'login', 'network', 'right', 'decisions', 'failures'],
} as const;

export type Happening = keyof typeof HAPPENINGS;
type Outcome<What extends Happening> = (typeof HAPPENINGS)[What][number];

export const happened = new Signal<{
  readonly what: Happening;
  readonly outcome: string;
  readonly times: number;
}>('happened');

/** Says that something happened. Call it when that is committed, and not again when it is tried again. */
export function tell<What extends Happening>(what: What, outcome: Outcome<What>, times = 1): void {
  if (times > 0 && happened.isHeard) happened.send({ what, outcome, times });
}

/** A verb that has each of its outcomes told. */
export function telling<
  What extends 'signIn' | 'paymentConfirmation',
  Given extends unknown[],
  Result extends { outcome: Outcome<What> },
>(what: What, verb: (...given: Given) => Promise<Result>): typeof verb {
  return async (...given) => {
    const result = await verb(...given).catch((error: unknown) => {
      tell(what, 'unavailable');
      throw error;
    });
    tell(what, result.outcome);
    return result;
  };
}
