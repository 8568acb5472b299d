import { type Cause, WAYS_ON, wordsOf } from '../../src/http/browser/deadEnds.ts';
import type { ErrorPage, NoticePage } from '../../src/http/browser/pages.ts';
import { type Language, TEXTS } from '../../src/languages/languages.ts';
import type { OAuthErrorCode } from '../../src/rules/error.ts';

// Where somebody may end: each error page by its cause, each notice by what it says.

/** The causes that belong to a code of their own; the other refusals are `invalid_request`, and the rest has none. */
const CODES: Readonly<Partial<Record<Cause, OAuthErrorCode>>> = {
  unknown_application: 'unauthorized_client',
  no_longer_possible: 'unauthorized_client',
  no_rights: 'invalid_scope',
  unreadable_rights: 'invalid_scope',
  right_not_offered: 'invalid_scope',
  right_not_allowed: 'invalid_scope',
  unclear_target: 'invalid_scope',
  contradiction: 'invalid_scope',
  above_ceiling: 'invalid_scope',
};

/** The parameter that a cause is about; those of `invalid_scope` are about `scope`. */
const PARAMETERS: Readonly<Partial<Record<Cause, string>>> = {
  wrong_return_address: 'redirect_uri',
  missing_parameter: 'response_type',
  doubled_parameter: 'state',
  undecodable_parameter: 'state',
  wrong_parameter: 'response_type',
};

/** Of a request that names none that is registered, and of one that can't be read, no application is known. */
const applicationIn = (cause: Cause): string | null =>
  ['unknown_application', 'sent_in_two_places', 'unreadable'].includes(cause) ? null : 'Demo Shop';

/** A form for each word on what pressing its button may have come to. */
const PRESSED = [
  '/sign-in',
  '/consent',
  '/account/disconnect',
  '/sign-out',
  '/account/sessions/end',
  '/account/password',
  '/account/stop',
  '/payment-password',
];

/** The samples as readers of a language see them. */
export function deadEndSamplesIn(language: Language): Record<string, ErrorPage | NoticePage> {
  const texts = TEXTS[language];
  const { account, errors, notices } = texts;
  const again = '/oauth/authorize?client_id=x';

  const error = (cause: Cause, clientName = applicationIn(cause), pressed = ''): ErrorPage => {
    const isRefused = Object.hasOwn(errors.reasons, cause);
    const code = isRefused ? (CODES[cause] ?? 'invalid_request') : null;
    const parameter = PARAMETERS[cause] ?? (code === 'invalid_scope' ? 'scope' : null);
    const words = wordsOf({ cause, code, clientName, parameter }, texts, { pressed, again });
    return { name: 'error', ...words, code, reference: 'k3v9-7qxp', explained: null };
  };
  const notice = (
    { title, text }: Pick<NoticePage, 'title' | 'text'>,
    links: NoticePage['links'],
    passOn: string | null = errors.tellUs,
  ): NoticePage => {
    const reference = 'k3v9-7qxp';
    const refusal =
      passOn === null ? null : { passOn, code: null, parameter: null, reference, explained: null };
    return { name: 'notice', title, text, links, refusal };
  };

  const toAccount = { href: '/account', text: account.see };
  const toRequest = { href: again, text: notices.seeRequest };
  const inNewTab = { href: again, text: notices.newTab, inNewTab: true };
  const { embedded, full, tooMany, allowed } = notices;
  const { title, spent, allowed: stands } = allowed;
  return {
    ...Object.fromEntries(
      (Object.keys(WAYS_ON) as Cause[]).map((cause) => [`error: ${cause}`, error(cause)]),
    ),
    'error, nobody known': error('missing_parameter', null),
    'error, wrong return address': error('wrong_return_address'),
    ...Object.fromEntries(
      PRESSED.map((path) => [`error after ${path}`, error('unavailable', 'Demo Shop', path)]),
    ),
    'notice, embedded': notice(embedded, [inNewTab], errors.passOn(null)),
    'notice, full': notice({ title: full.title, text: full.text('Demo Shop') }, [toAccount, toRequest]),
    'notice, too many decisions': notice(tooMany, [toRequest]),
    'notice, too many on the account page': notice(tooMany, [toAccount]),
    'notice, too many to stop everything': notice({ title: tooMany.title, text: tooMany.stop }, [toAccount]),
    'notice, allowed before': notice({ title, text: spent('Demo Shop') }, [toAccount], null),
    'notice, rejected after Allow': notice({ title, text: stands('Demo Shop') }, [toAccount], null),
  };
}
