/** Properties of a right for grammar, checks and pages; its sentence is `rights` in `languages/`. */
interface RightKind {
  /** The parenthesized target: the shop or account to pay, or the source of money. Without it a bare word. */
  readonly names?: 'shop' | 'account' | 'sources';
  /** Pays one of those that this right pays all of: the two contradict each other. */
  readonly isPartOf?: 'payment-shop' | 'payment-p2p';
  /** Compatible with a one-time payment. */
  readonly goesWithOneTime?: true;
  /** Bounds (`bounds.ts`) that no page may promise along with this right. */
  readonly lifts?: readonly ('pay_others' | 'transfer' | 'see_operations' | 'see_balance')[];
}

const KINDS = {
  'account-info': { goesWithOneTime: true, lifts: ['see_balance'] },
  'operation-history': { lifts: ['see_operations'] },
  'operation-details': { lifts: ['see_operations'] },
  // Answering transfers reveals them.
  'incoming-transfers': { lifts: ['see_operations'] },
  // Money that may go to anyone may go to a shop.
  'payment-shop': { lifts: ['pay_others'] },
  'payment-p2p': { lifts: ['pay_others', 'transfer'] },
  'payment.to-pattern': { names: 'shop', isPartOf: 'payment-shop' },
  'payment.to-account': { names: 'account', isPartOf: 'payment-p2p', lifts: ['transfer'] },
  'money-source': { names: 'sources', goesWithOneTime: true },
} satisfies Record<string, RightKind>;

export type RightName = keyof typeof KINDS;

/** Every right, in the order of the metadata, by its name in the catalogue and in lists of allowed rights. */
export const RIGHTS: Readonly<Record<RightName, RightKind>> = KINDS;
export const RIGHT_NAMES = Object.keys(RIGHTS) as readonly RightName[];

/** Prefix of rights that let money leave the account: they have a limit, and require the payment password. */
export const SPENDING = 'payment';
export const isSpending = (name: RightName): boolean => name.startsWith(SPENDING);

export const isRightName = (name: string): name is RightName => Object.hasOwn(RIGHTS, name);
