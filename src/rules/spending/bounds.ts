import { moneySources } from '../scope/rightData.ts';
import { kindOf, LIFTABLE, type RightKinds } from '../scope/rights.ts';
import { hasSpendingRight, type Right } from '../scope/scope.ts';

/** An act that an application can never do, or can't do because it didn't request it. */
type WithheldAct =
  /** By its limits, or because no right spends. */
  | 'spend_more'
  | 'spend'
  /** They are typed only on our pages. */
  | 'see_passwords'
  /** Every application needs its own authorization. */
  | 'open_to_others'
  | 'take_from_card'
  | 'take_from_wallet'
  /** Shops and accounts outside its rights; what it may see. */
  | (typeof LIFTABLE)[number];

/** Maximum of bounds about unrequested rights: users don't read a longer list. */
const MAX_NOT_ASKED = 2;

/** Always the limits, the passwords and other applications; then the most important unrequested rights. */
export function listForbiddenActions(rights: readonly Right[], catalogue: RightKinds): WithheldAct[] {
  const spending = hasSpendingRight(rights);
  const sources = moneySources(rights);
  const source = catalogue.get('money-source');
  // The sentences of these bounds name our sources, not the service's own.
  const choosesSource = spending && source !== undefined && source.sources === undefined;
  const isLifted = (bound: WithheldAct) =>
    rights.some(({ name }) => (kindOf(name, catalogue)?.lifts ?? LIFTABLE).some((one) => one === bound));
  const notAsked: readonly (readonly [WithheldAct, boolean])[] = [
    ['pay_others', spending],
    // If an application pays only named ones, `pay_others` implies it.
    ['transfer', isLifted('pay_others')],
    ['take_from_card', choosesSource && !sources.includes('card')],
    ['take_from_wallet', choosesSource && !sources.includes('wallet')],
    ['see_operations', true],
    ['see_balance', true],
  ];
  const said = notAsked.filter(([bound, holds]) => holds && !isLifted(bound)).slice(0, MAX_NOT_ASKED);
  const first = spending ? 'spend_more' : 'spend';
  return [first, ...said.map(([bound]) => bound), 'see_passwords', 'open_to_others'];
}
