import type { FastifyRequest } from 'fastify';
import { OWN_FAULT } from '../../flows/refusals.ts';
import { remedyFor } from '../../flows/remedies.ts';
import { TEXTS, type Texts } from '../../languages/languages.ts';
import type { OAuthErrorCode, Reason } from '../../rules/error.ts';
import { languageOf, pageAddress, textsOf } from './language.ts';
import { type Link, toAccount } from './links.ts';
import type { ErrorPage, Refusal } from './pages.ts';

/** Why somebody is on an error page: what is wrong with a request, or what else ends there. */
export type Cause = Reason | keyof Texts['errors']['causes'];

/** What the page says beside what happened: whose fault it is, and what to do next. */
interface WayOn {
  readonly fault: keyof Texts['errors']['faults'];
  readonly next: keyof Texts['errors']['next'];
  /** Where the one of the contract's code would not be true. */
  readonly title?: keyof Texts['errors']['titles'];
}

const OF_APPLICATION = { fault: 'application', next: 'application' } as const;

/** Every error page. In docs/dead-ends.md it stands with its words, and beside it the notices and the words over forms. */
export const WAYS_ON: Readonly<Record<Cause, WayOn>> = {
  // Unknown or blocked, which is not said: the request may be in order.
  unknown_application: { fault: 'nobodys', next: 'leave' },
  // A refused request: only those who wrote the application can mend it.
  // Just what an attack looks like: a link of a stranger's that names a known application.
  wrong_return_address: { fault: 'application', next: 'doubt' },
  missing_parameter: OF_APPLICATION,
  doubled_parameter: OF_APPLICATION,
  undecodable_parameter: OF_APPLICATION,
  wrong_parameter: OF_APPLICATION,
  sent_in_two_places: OF_APPLICATION,
  too_long: OF_APPLICATION,
  no_rights: OF_APPLICATION,
  unreadable_rights: OF_APPLICATION,
  right_not_offered: OF_APPLICATION,
  right_not_allowed: OF_APPLICATION,
  unclear_target: OF_APPLICATION,
  contradiction: OF_APPLICATION,
  above_ceiling: OF_APPLICATION,
  unreadable: OF_APPLICATION,
  // The application or the user was blocked at the last moment; which of them is not said.
  no_longer_possible: { fault: 'nobodys', next: 'support', title: 'no_longer_possible' },
  notFound: { fault: 'address', next: 'account' },
  unreadableAddress: { fault: 'address', next: 'account' },
  notAllowed: { fault: 'nobodys', next: 'account' },
  brokenForm: { fault: 'between', next: 'account' },
  brokenHttp: { fault: 'between', next: 'account' },
  late: { fault: 'between', next: 'account' },
  ourFault: { fault: 'ours', next: 'again' },
  unavailable: { fault: 'ours', next: 'again' },
};

/** What pressing a button may have come to, where the answer is 500 or 503, by the path of its form. */
const PRESSED: Readonly<Record<string, keyof Texts['errors']['pressed']>> = {
  '/sign-in': 'signIn',
  '/payment-password': 'paymentPassword',
  '/consent': 'decision',
  '/account/disconnect': 'disconnect',
  '/account/disconnect-all': 'disconnect',
  '/account/stop': 'stop',
  '/sign-out': 'signOut',
  '/account/sessions/end': 'sessions',
  '/account/sessions/end-others': 'sessions',
  '/account/password': 'passwords',
  '/account/payment-password': 'passwords',
};

/** What is known of a dead end. */
export interface DeadEnd {
  readonly cause: Cause;
  /** The contract's code; null where there is none. */
  readonly code: OAuthErrorCode | null;
  /** The application whose request it is; null while it is not known. */
  readonly clientName: string | null;
  /** The name of the parameter that the cause is about, which is ours; null for none. */
  readonly parameter: string | null;
}

/** The words of an error page, and where it leads. */
export function wordsOf(
  { cause, code, clientName, parameter }: DeadEnd,
  texts: Texts,
  { pressed, again }: { readonly pressed: string; readonly again: string },
): Pick<ErrorPage, 'title' | 'text' | 'fault' | 'next' | 'link' | 'passOn' | 'parameter'> {
  const { titles, reasons, causes, faults, next, unchanged, tryAgain, passOn, tellUs } = texts.errors;
  const way = WAYS_ON[cause];
  const { title, text } = isReason(cause)
    ? { title: titles[way.title ?? code ?? 'invalid_request'], text: reasons[cause] }
    : causes[cause];
  const fault = faults[way.fault](clientName);
  const isOfApplication = way.fault === 'application' || way.next === 'leave';
  const did = PRESSED[pressed];
  const isUnsure = way.next === 'again' && did !== undefined;
  return {
    title,
    text: isUnsure ? `${text} ${texts.errors.pressed[did]}` : text,
    fault: isReason(cause) ? `${fault} ${unchanged}` : fault,
    next: next[way.next](clientName),
    link: way.next === 'again' ? { href: again, text: tryAgain } : toAccount(texts),
    passOn: isOfApplication ? passOn(clientName) : tellUs,
    parameter: isReason(cause) ? parameter : null,
  };
}

function isReason(cause: Cause): cause is Reason {
  return Object.hasOwn(TEXTS.en.errors.reasons, cause);
}

/** The error page of a request. Trying again is a GET: of the same page or, after a form, of its request. */
export function errorPage(request: FastifyRequest, deadEnd: DeadEnd, status: number): ErrorPage {
  const said = { pressed: request.routeOptions?.url ?? '', again: pageAddress(request) };
  const words = wordsOf(deadEnd, TEXTS[languageOf(request)], said);
  const { id: reference } = request;
  return { name: 'error', ...words, code: deadEnd.code, reference, explained: explain(request, status) };
}

/** What a notice says for those who look after it that it should not come again. */
export function refusalOf(request: FastifyRequest, status: number): Refusal {
  const { passOn, tellUs } = textsOf(request).errors;
  const isEmbedded = status === 403; // by the application, which nobody has looked up
  const explained = explain(request, status);
  return {
    passOn: isEmbedded ? passOn(null) : tellUs,
    code: null,
    parameter: null,
    reference: request.id,
    explained,
  };
}

/** What `assent explain` says of a refusal; null where pages don't tell. */
function explain({ server, logFields }: FastifyRequest, status: number): Refusal['explained'] {
  if (!server.showsRules) return null;
  const { rule } = logFields ?? OWN_FAULT;
  return { rule, remedy: remedyFor({ status, rule }) };
}

/** To the user's page, which every dead end may lead to. */
export function accountLink(request: FastifyRequest): Link {
  return toAccount(textsOf(request));
}
