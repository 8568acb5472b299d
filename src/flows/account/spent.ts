import { rightKeyOf } from '../../rules/request/scopeRules.ts';
import type { Right } from '../../rules/scope/scope.ts';
import { sha256 } from '../../secrets/digest.ts';
import { findSpent, type Spent } from '../../store/account/spentBudgets.ts';
import type { Context } from '../common/context.ts';

export type { Spent };

/** An authorization with the rights that it has now. */
export interface SpendingGrant {
  readonly grantId: string;
  readonly tokenIssuedAt: Date | null;
  readonly rights: readonly Right[];
}

/** What rights have spent, by grant and {@link rightKeyOf}; none where payments are not counted (`SPENDING`). */
export async function loadSpent({ db, countsPayments }: Context, grants: readonly SpendingGrant[]) {
  const spent = new Map<string, Spent>();
  if (!countsPayments) return spent;
  const budgets = grants.flatMap(({ grantId, tokenIssuedAt, rights }) =>
    rights.flatMap((right) => {
      if (right.limit === undefined || tokenIssuedAt === null) return [];
      return { grantId, tokenIssuedAt, days: right.limit.days, key: rightKeyOf(right) };
    }),
  );
  if (budgets.length === 0) return spent;
  const rows = await findSpent(db, {
    grantIds: budgets.map(({ grantId }) => grantId),
    budgets: budgets.map(({ key }) => sha256(key)),
    days: budgets.map(({ days }) => days),
    tokenIssuedAts: budgets.map(({ tokenIssuedAt }) => tokenIssuedAt),
  });
  for (const { index, ...one } of rows) {
    const { grantId = '', key = '' } = budgets[index] ?? {};
    spent.set(grantId + key, one);
  }
  return spent;
}
