import type { PerLanguage } from '../common/perLanguage.ts';

/** Promises ("it can't …") about what an application doesn't request: `WithheldAct`s that a right may break. */
export const LIFTABLE = ['pay_others', 'transfer', 'see_operations', 'see_balance'] as const;

export type MoneySource = 'wallet' | 'card';

/** Properties of a right for grammar, checks and pages; its sentence is in the catalogue. */
export interface RightKind {
  /** Money may leave the account: the right has a limit, and is confirmed. */
  readonly spends?: boolean | undefined;
  /** The parenthesized target: the shop or account to pay, or the source of money. Without it a bare word. */
  readonly names?: 'shop' | 'account' | 'sources' | undefined;
  /** Is one of those that this right contains all of: the two contradict each other. */
  readonly isPartOf?: string | undefined;
  /** The service's own words for the sources of money. */
  readonly sources?: Readonly<Record<MoneySource, PerLanguage>> | undefined;
  /** May be requested together with a one-time payment. */
  readonly goesWithOneTime?: true;
  /** Those that no page may promise along with this right. */
  readonly lifts: readonly (typeof LIFTABLE)[number][];
}

export type RightKinds = ReadonlyMap<string, RightKind>;

const KINDS = {
  'account-info': { goesWithOneTime: true, lifts: ['see_balance'] },
  'operation-history': { lifts: ['see_operations'] },
  'operation-details': { lifts: ['see_operations'] },
  // Answering transfers reveals them.
  'incoming-transfers': { lifts: ['see_operations'] },
  // Money that may go to anyone may go to a shop.
  'payment-shop': { spends: true, lifts: ['pay_others'] },
  'payment-p2p': { spends: true, lifts: ['pay_others', 'transfer'] },
  'payment.to-pattern': { spends: true, names: 'shop', isPartOf: 'payment-shop', lifts: [] },
  'payment.to-account': { spends: true, names: 'account', isPartOf: 'payment-p2p', lifts: ['transfer'] },
  'money-source': { names: 'sources', goesWithOneTime: true, lifts: [] },
} satisfies Record<string, RightKind>;

export type BuiltInRightName = keyof typeof KINDS;

/** The built-in rights, in the order of the metadata. Their kinds hold in every catalogue. */
export const BUILT_IN_RIGHTS: ReadonlyMap<string, RightKind> = new Map(Object.entries(KINDS));

/** Undefined for a right that is neither built in nor in the catalogue: an earlier one, or another service's. */
export function kindOf(name: string, catalogue: RightKinds): RightKind | undefined {
  return BUILT_IN_RIGHTS.get(name) ?? catalogue.get(name);
}

/** The name of a right at the beginning of an element of a scope. */
export const NAME = /[a-z0-9-](?:(?!\.limit\()[a-z0-9:._-])*/y;

/** A name that the grammar reads as one. `payment` alone is the stem of built-in rights (`invalid_scope`). */
export function isRightName(name: string): boolean {
  return /^[a-z][a-z0-9:._-]{0,63}$/.test(name) && !name.endsWith('.limit') && name !== 'payment';
}
