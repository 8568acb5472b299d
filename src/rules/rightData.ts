import { type AccountType, effectiveLimit, type MoneySource, type Right, spends, targetOf } from './scope.ts';

/** A right as data, so that resource servers need no parser of scopes. Fields that a right doesn't have are left out. */
export interface RightData {
  readonly right: Right['name'];
  /** The shop or account that the right names. */
  readonly target?: string;
  /** What kind of account the target is; only for `payment.to-account`. */
  readonly target_type?: AccountType;
  /** Only for `money-source`. */
  readonly sources?: readonly MoneySource[];
  /** At most `amount` in any so many days; left out for one payment of exactly `amount`. */
  readonly period_days?: number;
  /** An exact decimal as text, never a float. Only for a right that spends. */
  readonly amount?: string;
  /** ISO 4217; beside `amount`. */
  readonly currency?: string;
}

/** A right that spends, with its limit. */
export type LimitData = RightData & Required<Pick<RightData, 'amount' | 'currency'>>;

/** All rights in the order of the scope, the default limit of those that spend included. */
export function rightData(rights: readonly Right[], currency: string): RightData[] {
  return rights.map((right) => {
    const data: { -readonly [Name in keyof RightData]: RightData[Name] } = { right: right.name };
    const target = targetOf(right);
    if (target !== null) data.target = target;
    if (right.name === 'payment.to-account') data.target_type = right.type;
    if (right.name === 'money-source') data.sources = right.sources;
    const limit = effectiveLimit(right);
    if (limit === undefined) return data;
    if (limit.days !== null) data.period_days = limit.days;
    data.amount = limit.sum;
    data.currency = currency;
    return data;
  });
}

/** Those of `rights` that spend. */
export function limitsAmong(rights: readonly RightData[]): LimitData[] {
  return rights.filter((right): right is LimitData => right.amount !== undefined);
}

/** The sources that money may come from: those of the scope, otherwise the wallet; none when nothing is spent. */
export function moneySources(rights: readonly Right[]): readonly MoneySource[] {
  if (!spends(rights)) return [];
  return rights.find((right) => right.name === 'money-source')?.sources ?? ['wallet'];
}
