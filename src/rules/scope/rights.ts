/** All that grammar, checks and pages know of a right, but for its sentence (`rights` in `languages/`). */
interface RightKind {
  /** Named in its parentheses: the shop or account that it pays, or where the money comes from. Without it a bare word. */
  readonly names?: 'shop' | 'account' | 'sources';
  /** Pays one of those that this right pays all of: the two contradict each other. */
  readonly isPartOf?: 'payment-shop' | 'payment-p2p';
  /** May stand beside a one-time payment. */
  readonly goesWithOneTime?: true;
  /** Bounds (`bounds.ts`) that no page may promise beside this right. */
  readonly lifts?: readonly ('pay_others' | 'transfer' | 'see_operations' | 'see_balance')[];
}

const KINDS = {
  'account-info': { goesWithOneTime: true, lifts: ['see_balance'] },
  'operation-history': { lifts: ['see_operations'] },
  'operation-details': { lifts: ['see_operations'] },
  // Answering transfers shows them.
  'incoming-transfers': { lifts: ['see_operations'] },
  // Money that may go to anyone may go to a shop.
  'payment-shop': { lifts: ['pay_others'] },
  'payment-p2p': { lifts: ['pay_others', 'transfer'] },
  'payment.to-pattern': { names: 'shop', isPartOf: 'payment-shop' },
  'payment.to-account': { names: 'account', isPartOf: 'payment-p2p', lifts: ['transfer'] },
  'money-source': { names: 'sources', goesWithOneTime: true },
} satisfies Record<string, RightKind>;

export type RightName = keyof typeof KINDS;

/** Every right, in the order of the metadata, by the name that the catalogue and the lists of allowed rights use. */
export const RIGHTS: Readonly<Record<RightName, RightKind>> = KINDS;
export const RIGHT_NAMES = Object.keys(RIGHTS) as readonly RightName[];

/** What a right begins with that lets money leave the account: it has a limit, and the payment password is asked. */
export const SPENDING = 'payment';
export const isSpending = (name: RightName): boolean => name.startsWith(SPENDING);

export const isRightName = (name: string): name is RightName => Object.hasOwn(RIGHTS, name);
