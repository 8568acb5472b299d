import { hundredths } from './ceiling.ts';
import { effectiveLimit, type PaymentLimit, type Right } from './scope.ts';
import { identityOf } from './scopeRules.ts';
import { spendable } from './worstCase.ts';

/** What becomes of a right when a request takes the place of an earlier authorization. */
export interface RightChange {
  /**
   * `raised`: some interval may cost more, and none less; `lowered` the other way round. `changed`: neither, such as a larger
   * sum in a longer period, or one payment in place of a period.
   */
  readonly change: 'new' | 'dropped' | 'raised' | 'lowered' | 'changed' | 'unchanged';
  /** As it is asked; a dropped one as it was. */
  readonly right: Right;
  /** The limit of the earlier authorization, the default one included; null for a right that it lacked or that spends nothing. */
  readonly before: PaymentLimit | null;
  /** The limit that is asked; null for a right that is dropped or spends nothing. */
  readonly after: PaymentLimit | null;
}

/**
 * Compares an earlier authorization with a request: each right of both lists once, those of the request in its order, then
 * the dropped ones in theirs.
 *
 * Rights are the same by name, target and type, as in "the same right twice" of docs/scopes.md. Where the money comes from is
 * no power of its own: `moneySources` (`rightData.ts`) says it of both lists.
 */
export function differenceOf(earlier: readonly Right[], asked: readonly Right[]): RightChange[] {
  const unmatched = powersAmong(earlier).map((right) => ({ right, key: identityOf(right) }));
  const changes = powersAmong(asked).map((right) => {
    const key = identityOf(right);
    const index = unmatched.findIndex((other) => other.key === key);
    const [match] = index < 0 ? [] : unmatched.splice(index, 1);
    return match ? kept(match.right, right) : added(right);
  });
  return [...changes, ...unmatched.map(({ right }) => dropped(right))];
}

function added(right: Right): RightChange {
  return { change: 'new', right, before: null, after: effectiveLimit(right) ?? null };
}

function dropped(right: Right): RightChange {
  return { change: 'dropped', right, before: effectiveLimit(right) ?? null, after: null };
}

function kept(earlier: Right, right: Right): RightChange {
  const before = effectiveLimit(earlier);
  const after = effectiveLimit(right);
  if (before === undefined || after === undefined)
    return { change: 'unchanged', right, before: null, after: null };
  return { change: compare(before, after), right, before, after };
}

function compare(before: PaymentLimit, after: PaymentLimit): RightChange['change'] {
  if ((before.days === null) !== (after.days === null)) return 'changed';
  if (isCovered(before, after)) return isCovered(after, before) ? 'unchanged' : 'raised';
  return isCovered(after, before) ? 'lowered' : 'changed';
}

/**
 * Whether no interval can cost more by `limit` than by `other`. One as long as the period of `other` decides: what is spent in
 * it may be `other.sum`, and any other interval is made of such.
 */
function isCovered(limit: PaymentLimit, other: PaymentLimit): boolean {
  return spendable(limit, other.days ?? 1) <= hundredths(other.sum);
}

function powersAmong(rights: readonly Right[]): Right[] {
  return rights.filter(({ name }) => name !== 'money-source');
}
