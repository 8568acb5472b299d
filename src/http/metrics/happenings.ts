import { Counter, type Registry } from 'prom-client';
import { HAPPENINGS, type Happening, happened } from '../../signals/happenings.ts';

/** The counter of each happening; its label has the outcomes. */
const COUNTERS: Readonly<
  Record<Happening, { readonly name: string; readonly label: string; readonly help: string }>
> = {
  decision: {
    name: 'assent_decisions_total',
    label: 'decision',
    help: 'Decisions of users that were written: Allow and Reject.',
  },
  grantEnd: {
    name: 'assent_grants_ended_total',
    label: 'by',
    help: 'Authorizations annulled by a new approval, or revoked by their user, their application, or a code that came twice.',
  },
  exchange: {
    name: 'assent_exchanges_total',
    label: 'outcome',
    help: 'Codes brought to /oauth/token: tokens issued, and the rule of each refusal.',
  },
  signIn: { name: 'assent_sign_ins_total', label: 'outcome', help: 'Attempts to sign in.' },
  paymentConfirmation: {
    name: 'assent_payment_confirmations_total',
    label: 'outcome',
    help: 'Attempts to confirm a request by the payment password.',
  },
  throttle: {
    name: 'assent_throttled_total',
    label: 'by',
    help: 'Attempts that were told to wait, by the counter that was full.',
  },
};

/** Counts what happens. @returns what ends it */
export function countHappenings(registry: Registry): (() => void)[] {
  const counters = new Map(
    Object.entries(COUNTERS).map(([what, { name, label, help }]) => {
      const counter = new Counter({ name, help, labelNames: [label], registers: [registry] });
      for (const outcome of HAPPENINGS[what as Happening]) counter.inc({ [label]: outcome }, 0);
      return [what, { counter, label }];
    }),
  );
  return [
    happened.listen(({ what, outcome, times }) => {
      const counted = counters.get(what);
      counted?.counter.inc({ [counted.label]: outcome }, times);
    }),
  ];
}
