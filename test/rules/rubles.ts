import { BUILT_IN_CATALOGUE } from '../../src/languages/catalogue.ts';
import type { Limit } from '../../src/rules/common/money.ts';
import { BUILT_IN_OFFER, FURTHER_LIMITS } from '../../src/rules/request/scopeRules.ts';
import * as scopes from '../../src/rules/scope/scope.ts';

/** With all that limits can have. */
export const OFFER = { ...BUILT_IN_OFFER, catalogue: BUILT_IN_CATALOGUE, furtherLimits: FURTHER_LIMITS };

/** A scope of a service whose currency is the rouble. */
export const parseScope = (scope: string): scopes.Right[] => scopes.parseScope(scope, 'RUB');

/** A limit as an application writes it. */
export const rubles = (days: number | null, sum: string): Limit => ({ days, sum, currency: 'RUB' });
/** The limit of a right that is written without one. */
export const DEFAULT: Limit = { ...rubles(1, '3000'), isDefault: true };
