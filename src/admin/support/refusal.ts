import { causeOfRule, errorPageTexts, remedyForDevelopers } from '../../http/pages/errorPage.ts';
import type { Texts } from '../../languages/languages.ts';
import type { Row } from '../../operations/snakeCase.ts';
import { RULE_IDS } from '../../rules/common/refusals.ts';

/** The refused requests that a browser sent; others are of applications, which got JSON. */
const OF_PAGES = /^\/oauth\/(authorize|sign-in|sign-out|consent|confirm|account)\b/;
const CODES = ['invalid_request', 'invalid_scope', 'unauthorized_client'] as const;

/** Causes of pages that no rule has, by status. */
const CAUSES = { 404: 'notFound', 405: 'notAllowed', 500: 'ourFault', 503: 'unavailable' } as const;

/** What a refused request showed to its person, what helps the person, and what the application's developers; null for other rows. */
export function describeRefusal(row: Row, texts: Texts) {
  const [path, method, ruleId] = [`${row.path}`, `${row.method}`, row.rule_id ?? null];
  if (typeof ruleId !== 'string') return null;
  const rule = RULE_IDS.find((id) => id === ruleId);
  const clientName = row.client_name == null ? null : `${row.client_name}`;
  const ofStatus = CAUSES[row.status as keyof typeof CAUSES];
  const cause = ofStatus ?? (rule ? causeOfRule(rule, { path, method, clientName }) : 'unreadable');
  const code = CODES.find((one) => one === row.error) ?? null;
  const shown = errorPageTexts({ cause, code, clientName }, texts, { pressed: path, again: '' });
  return { ...shown, isPage: OF_PAGES.test(path), remedy: remedyForDevelopers(ruleId) };
}
