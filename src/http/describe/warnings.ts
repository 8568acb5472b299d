import type { FastifyRequest } from 'fastify';
import { findWarnings, isUsuallyOwnAct, type Warning, type Warnings } from '../../flows/account/warnings.ts';
import type { Session } from '../../flows/signIn/session.ts';
import { inSentence } from '../../languages/formats.ts';
import type { Texts } from '../../languages/languages.ts';
import { beginningOf } from '../../rules/common/network.ts';
import { readCookies } from '../browser/cookies.ts';
import { type Words, wordsFor } from './describe.ts';
import { type Link, toPasswords } from './links.ts';

type Way = 'stop' | 'account' | 'security' | 'password' | 'paymentPassword';

/** Advice for each kind. */
const WAYS: Readonly<Record<Warning['kind'], readonly Way[]>> = {
  payment_confirmed: ['stop', 'account', 'password', 'paymentPassword'],
  replayed: ['password', 'paymentPassword'],
  password_guessed: ['password'],
  payment_password_guessed: ['stop', 'security', 'password', 'paymentPassword'],
  user_password_set: ['password', 'paymentPassword'],
  signed_in: ['stop', 'password', 'paymentPassword'],
};

export async function warningsOn(page: 'account' | 'security', request: FastifyRequest, session: Session) {
  const warnings = await findWarnings(request.server.context, session, readCookies(request).seen);
  return warnings && describeWarnings(page, warnings, session.user, wordsFor(request));
}

/** Sentences, each with links to its advice on other pages. */
export function describeWarnings(
  page: 'account' | 'security',
  { events, hasMore, newest, seenToken }: Warnings,
  { hasPaymentPassword }: Pick<Session['user'], 'hasPaymentPassword'>,
  words: Words,
) {
  const links = linksIn(words.texts, hasPaymentPassword);
  const items = events.map((event) => ({
    text: sentenceOf(event, words),
    ways: WAYS[event.kind].filter((way) => way !== page).map((way) => links[way]),
  }));
  const areOwn = events.every(({ kind }) => isUsuallyOwnAct(kind));
  const button = words.texts.warnings[areOwn ? 'wasMe' : 'seen'];
  return { items, hasMore, newest, seenToken, button };
}

function sentenceOf({ kind, at, clientName, network, device }: Warning, { timeZone, texts }: Words): string {
  const { warnings, history, security, formats } = texts;
  const [client, time] = [clientName ?? history.deletedClient, formats.time(at, timeZone)];
  const from = network === null ? warnings.unknownNetwork : history.network(beginningOf(network));
  switch (kind) {
    case 'payment_confirmed':
      return warnings.payment_confirmed(client, time, from);
    case 'replayed':
      return warnings.replayed(client, time);
    case 'signed_in': {
      const browser = device.browser ?? inSentence(security.unknownBrowser);
      return warnings.signed_in(
        time,
        security.device(browser, device.system ?? security.unknownSystem),
        from,
      );
    }
    case 'user_password_set':
      return warnings.user_password_set(time);
    default:
      return warnings[kind](time, from);
  }
}

function linksIn(texts: Texts, hasPaymentPassword: boolean): Record<Way, Link> {
  const [password, paymentPassword] = toPasswords(texts, hasPaymentPassword);
  return {
    stop: { href: '/account#stop', text: texts.stop.see },
    account: { href: '/account', text: texts.account.title },
    security: { href: '/account/security', text: texts.security.title },
    password,
    paymentPassword,
  };
}
