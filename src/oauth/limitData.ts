import { effectiveLimit, type MoneySource, type Right, spends } from './scope.ts';

/** A payment limit as data, so that no resource server has to read the scope grammar. */
export interface LimitData {
  readonly right: Right['name'];
  /** The shop or account that the right names; left out where it names none. */
  readonly target?: string;
  /** What kind of account the target is; only for `payment.to-account`. */
  readonly target_type?: 'account' | 'phone' | 'email';
  /** At most `amount` in any so many days; left out for one payment of exactly `amount`. */
  readonly period_days?: number;
  /** An exact decimal as text: it never was a float. */
  readonly amount: string;
  /** ISO 4217. */
  readonly currency: string;
}

/** The limits of all rights that spend, in the order of the scope, the default limit included. */
export function limitData(rights: readonly Right[], currency: string): LimitData[] {
  return rights.flatMap((right) => {
    const limit = effectiveLimit(right);
    if (limit === undefined) return [];
    const period = limit.days === null ? {} : { period_days: limit.days };
    return [{ right: right.name, ...targetOf(right), ...period, amount: limit.sum, currency }];
  });
}

function targetOf(right: Right): Pick<LimitData, 'target' | 'target_type'> {
  if (right.name === 'payment.to-pattern') return { target: right.pattern };
  if (right.name === 'payment.to-account') return { target: right.to, target_type: right.type };
  return {};
}

/** Where the money may come from: as the scope says, the wallet when it says nothing, nowhere when nothing is spent. */
export function moneySources(rights: readonly Right[]): readonly MoneySource[] {
  if (!spends(rights)) return [];
  return rights.find((right) => right.name === 'money-source')?.sources ?? ['wallet'];
}
