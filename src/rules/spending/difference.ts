import { covers, type Limit } from '../common/money.ts';
import { rightKeyOf } from '../request/scopeRules.ts';
import type { Right } from '../scope/scope.ts';

/** A right of a request beside the earlier authorization that it replaces; a dropped one as it was. A limit is null for none. */
export type RightChange = ReturnType<typeof differenceOf>[number];

/** Each right of both lists once, by {@link rightKeyOf}; dropped ones last. `moneySources` compares the sources of money. */
export function differenceOf(earlier: readonly Right[], asked: readonly Right[]) {
  const unmatched = withoutMoneySource(earlier).map((right) => ({ right, key: rightKeyOf(right) }));
  const changes = withoutMoneySource(asked).map((right) => {
    const key = rightKeyOf(right);
    const index = unmatched.findIndex((other) => other.key === key);
    const [match] = index < 0 ? [] : unmatched.splice(index, 1);
    const [before, after] = [match?.right.limit ?? null, right.limit ?? null];
    return { change: match ? compare(before, after) : 'new', right, before, after } as const;
  });
  const dropped = unmatched.map(({ right }) => {
    return { change: 'dropped', right, before: right.limit ?? null, after: null } as const;
  });
  return [...changes, ...dropped];
}

/** `raised`: some interval may cost more, none less; `lowered`: the reverse; `changed`: neither. */
function compare(before: Limit | null, after: Limit | null) {
  if (before === null || after === null) return before === after ? 'unchanged' : 'changed';
  if ((before.days === null) !== (after.days === null)) return 'changed';
  if (covers(after, before)) return covers(before, after) ? 'unchanged' : 'raised';
  return covers(before, after) ? 'lowered' : 'changed';
}

function withoutMoneySource(rights: readonly Right[]): Right[] {
  return rights.filter(({ name }) => name !== 'money-source');
}
