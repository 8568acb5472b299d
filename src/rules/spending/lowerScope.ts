import { OAuthError, OperatorError } from '../common/error.ts';
import { type Offer, parseRequestedScope, refuseWrongDays } from '../request/scopeRules.ts';
import { formatScope, parseScope, type Right } from '../scope/scope.ts';
import { differenceOf } from './difference.ts';

/**
 * What an operator leaves of a granted scope. @returns `earlier` itself if nothing of it is lower
 * @throws {OperatorError} if a right is new, may cost more in some interval, or is not in order
 */
export function lowerScope(earlier: string, asked: string, offer: Offer, now: Date): string {
  const before = parseScope(earlier, offer.currency);
  const after = parseLowered(asked, offer, now);
  if (sourcesOf(before) !== sourcesOf(after)) throw refused('money-source must stay as it is');
  const changes = differenceOf(before, after);
  const more = changes.find(({ change }) => !/^(lowered|dropped|unchanged)$/.test(change));
  if (more) throw refused(`${formatScope([more.right])} is not within what was allowed: ${earlier}`);
  return changes.every(({ change }) => change === 'unchanged') ? earlier : formatScope(after);
}

/** A right that has left the catalogue may stay. */
function parseLowered(scope: string, offer: Offer, now: Date): readonly Right[] {
  try {
    const anything = { allowedRights: null, most: null };
    const { rights } = parseRequestedScope(scope, { ...offer, defaultLimit: null }, anything);
    refuseWrongDays(rights, now);
    return rights;
  } catch (error) {
    throw error instanceof OAuthError ? refused(error.rule) : error;
  }
}

const sourcesOf = (rights: readonly Right[]) =>
  formatScope(rights.filter(({ name }) => name === 'money-source'));

const refused = (why: string) => new OperatorError('refused_value', why, 'scope');
