import { moneySources } from '../scope/rightData.ts';
import { RIGHTS } from '../scope/rights.ts';
import { type Right, spends } from '../scope/scope.ts';

/** An act that an application can't do, whatever it asked or because it didn't ask it. */
export type Bound =
  /** By its limits, or because no right spends. */
  | 'spend_more'
  | 'spend'
  /** They are typed on our pages only. */
  | 'see_passwords'
  /** Every application has to ask for itself. */
  | 'open_to_others'
  /** Shops and accounts that its rights don't name. */
  | 'pay_others'
  | 'transfer'
  | 'take_from_card'
  | 'take_from_wallet'
  | 'see_operations'
  | 'see_balance';

/** How many bounds are said of what was not asked: a longer list is not read. */
const MAX_NOT_ASKED = 2;

/** Always the limits, the passwords and other applications; of the rights that were not asked the first that matter. */
export function boundsOf(rights: readonly Right[]): Bound[] {
  const spending = spends(rights);
  const sources = moneySources(rights);
  const isLifted = (bound: Bound) =>
    rights.some(({ name }) => RIGHTS[name].lifts?.some((one) => one === bound));
  const notAsked: readonly (readonly [Bound, boolean])[] = [
    ['pay_others', spending],
    // Of an application that pays named ones only, `pay_others` says it.
    ['transfer', isLifted('pay_others')],
    ['take_from_card', spending && !sources.includes('card')],
    ['take_from_wallet', spending && !sources.includes('wallet')],
    ['see_operations', true],
    ['see_balance', true],
  ];
  const said = notAsked.filter(([bound, holds]) => holds && !isLifted(bound)).map(([bound]) => bound);
  return [
    spending ? 'spend_more' : 'spend',
    ...said.slice(0, MAX_NOT_ASKED),
    'see_passwords',
    'open_to_others',
  ];
}
