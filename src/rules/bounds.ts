import { moneySources } from './rightData.ts';
import { type Right, type RightName, spends } from './scope.ts';

/** Something that an application can't do, whatever it asked or because it didn't ask it. */
export type Bound =
  /** By its limits, or because no right spends. */
  | 'spend_more'
  | 'spend'
  /** They are typed on our pages only. */
  | 'see_passwords'
  /** Every application has to ask for itself. */
  | 'open_to_others'
  /** Anybody but the shops and accounts that its rights name. */
  | 'pay_others'
  | 'transfer'
  | 'take_from_card'
  | 'take_from_wallet'
  | 'see_operations'
  | 'see_balance';

/** How many bounds are said of what was not asked: a longer list is not read. */
const MAX_NOT_ASKED = 2;

/** Rights by which an application may come to see operations: those that it answers, too. */
const SEE_OPERATIONS = ['operation-history', 'operation-details', 'incoming-transfers'] as const;
const TRANSFER = ['payment-p2p', 'payment.to-account'] as const;
const PAY_ANYONE = ['payment-p2p', 'payment-shop'] as const;

/**
 * What an application can't do with `rights`: always its limits, the passwords and other applications; of what it did not ask
 * the first that matter. Whoever may transfer money to anyone may transfer it to a shop, so of shops nothing is said.
 */
export function boundsOf(rights: readonly Right[]): Bound[] {
  const spending = spends(rights);
  const sources = moneySources(rights);
  const lacks = (...names: readonly RightName[]) => !rights.some(({ name }) => names.includes(name));
  const notAsked: readonly (readonly [Bound, boolean])[] = [
    ['pay_others', spending && lacks(...PAY_ANYONE)],
    ['transfer', spending && !lacks('payment-shop') && lacks(...TRANSFER)],
    ['take_from_card', spending && !sources.includes('card')],
    ['take_from_wallet', spending && !sources.includes('wallet')],
    ['see_operations', lacks(...SEE_OPERATIONS)],
    ['see_balance', lacks('account-info')],
  ];
  const said = notAsked.filter(([, holds]) => holds).map(([bound]) => bound);
  return [
    spending ? 'spend_more' : 'spend',
    ...said.slice(0, MAX_NOT_ASKED),
    'see_passwords',
    'open_to_others',
  ];
}
