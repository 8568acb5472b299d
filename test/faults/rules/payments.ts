import type { Rule } from '../auditor.ts';
import { decidedBy } from '../evidence.ts';
import { LIMIT } from '../site.ts';
import { groupBy } from './tokens.ts';

// Payments that Assent counts, against their answers and the audit trail. All are of one period, and nobody is deleted.

const ENDING = /^(approved_again|replayed|revoked_by_\w+)$/;

export const PAYMENT_RULES: Rule[] = [
  {
    name: 'no budget is spent above its limit',
    find: ({ payments }) =>
      [...groupBy(payments, ({ grantId, budget }) => `${grantId} ${budget}`)]
        .map(([budget, paid]) => [budget, paid.reduce((sum, { amount }) => sum + amount, 0)] as const)
        .filter(([, sum]) => sum > LIMIT)
        .map(([budget, sum]) => `${sum} of the budget ${budget} are spent`),
  },
  {
    name: 'a payment is there once if it was answered as reserved, and not if it was refused',
    find(evidence) {
      const rows = groupBy(evidence.payments, ({ payment }) => payment);
      return [...groupBy(evidence.entries, ({ payment }) => payment)].flatMap(([payment, asked]) => {
        const found = rows.get(payment) ?? [];
        const isReserved = asked.some(({ told }) => told === 'done');
        const mayBe = asked.some(
          (entry) =>
            entry.told === 'nothing' ||
            (entry.told === 'unavailable' &&
              found.every(({ paidAt }) => paidAt <= decidedBy(evidence, entry))),
        );
        const isRight = found.length === 1 ? isReserved || mayBe : found.length === 0 && !isReserved;
        return isRight ? [] : [`the payment ${payment} is there ${found.length} times`];
      });
    },
  },
  {
    name: 'no payment is reserved after the end of its authorization',
    find({ payments, events }) {
      const ends = groupBy(events, ({ kind, grantId }) => (ENDING.test(kind) && grantId) || undefined);
      return payments
        .filter(({ grantId, paidAt, tokenIssuedAt }) =>
          ends.get(grantId)?.some(({ at }) => tokenIssuedAt < at && at < paidAt),
        )
        .map(
          ({ payment, grantId, paidAt }) => `the payment ${payment} of ${grantId} was reserved at ${paidAt}`,
        );
    },
  },
  {
    name: 'each repeat of a payment has the same answer',
    find: ({ entries }) =>
      [...groupBy(entries, ({ payment, active, body }) => (payment && active ? body : undefined)).values()]
        .filter((answers) => new Set(answers.map(({ why }) => why)).size > 1)
        .map((answers) => `a payment was answered ${answers.map(({ why, ref }) => `${why} (${ref})`)}`),
  },
];
