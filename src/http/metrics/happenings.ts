import type { Counter } from 'prom-client';
import { HAPPENINGS, type Happening, happened } from '../../signals/happenings.ts';
import type { MetricName, Metrics } from './metrics.ts';

/** The counter of each event, and its label for the outcomes. */
const COUNTERS: Readonly<Record<Happening, readonly [MetricName, label: string]>> = {
  decision: ['assent_decisions_total', 'decision'],
  grantEnd: ['assent_grants_ended_total', 'by'],
  exchange: ['assent_exchanges_total', 'outcome'],
  signIn: ['assent_sign_ins_total', 'outcome'],
  paymentConfirmation: ['assent_payment_confirmations_total', 'outcome'],
  throttle: ['assent_throttled_total', 'by'],
};

export function countHappenings(metrics: Metrics): void {
  const counters = new Map<string, Counter>();
  for (const [what, [name, label]] of Object.entries(COUNTERS))
    counters.set(what, metrics.counter(name, { [label]: HAPPENINGS[what as Happening] }));
  metrics.listen(happened, ({ what, outcome, times }) => {
    counters.get(what)?.inc({ [COUNTERS[what][1]]: outcome }, times);
  });
}
