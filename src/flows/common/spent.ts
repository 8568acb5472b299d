import { rightKeyOf } from '../../rules/request/scopeRules.ts';
import type { Right } from '../../rules/scope/scope.ts';
import { sha256 } from '../../secrets/digest.ts';
import { findSpent, type Spent } from '../../store/common/spentBudgets.ts';
import type { Context } from './context.ts';

export type { Spent };

/** An authorization with the rights that it has now. */
interface SpendingGrant {
  readonly grantId: string;
  readonly tokenIssuedAt: Date | null;
  readonly rights: readonly Right[];
}

/** What each right has spent, by grant; undefined for nothing, and where payments are not counted (`SPENDING`). */
export async function loadSpent(
  { db, countsPayments }: Pick<Context, 'db' | 'countsPayments'>,
  grants: readonly SpendingGrant[],
): Promise<(Spent | undefined)[][]> {
  const spent = grants.map(({ rights }) => rights.map((): Spent | undefined => undefined));
  if (!countsPayments) return spent;
  const budgets = grants.flatMap(({ grantId, tokenIssuedAt, rights }, grant) =>
    rights.flatMap((right, at) => {
      if (right.limit === undefined || tokenIssuedAt === null) return [];
      return { grantId, tokenIssuedAt, days: right.limit.days, budget: sha256(rightKeyOf(right)), grant, at };
    }),
  );
  if (budgets.length === 0) return spent;
  const rows = await findSpent(db, {
    grantIds: budgets.map(({ grantId }) => grantId),
    budgets: budgets.map(({ budget }) => budget),
    days: budgets.map(({ days }) => days),
    tokenIssuedAts: budgets.map(({ tokenIssuedAt }) => tokenIssuedAt),
  });
  for (const { index, ...one } of rows) {
    const { grant = 0, at = 0 } = budgets[index] ?? {};
    spent[grant]?.splice(at, 1, one);
  }
  return spent;
}
