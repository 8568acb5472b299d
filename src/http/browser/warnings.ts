import type { FastifyRequest } from 'fastify';
import type { Context } from '../../flows/context.ts';
import type { Session } from '../../flows/session.ts';
import { findWarnings, isMostOftenOwn, type Warning, type Warnings } from '../../flows/warnings.ts';
import { inSentence } from '../../languages/formats.ts';
import type { Texts } from '../../languages/languages.ts';
import { beginningOf } from '../../rules/network.ts';
import type { WarningsBox } from './accountPages.ts';
import { readCookies } from './cookies.ts';
import { textsOf } from './language.ts';
import { type Link, toPasswords } from './links.ts';

type Way = 'stop' | 'account' | 'security' | 'password' | 'paymentPassword';

/** What to do about each kind, as far as it is on another page. */
const WAYS: Readonly<Record<Warning['kind'], readonly Way[]>> = {
  payment_confirmed: ['stop', 'account', 'password', 'paymentPassword'],
  replayed: ['password', 'paymentPassword'],
  password_guessed: ['password'],
  payment_password_guessed: ['stop', 'security', 'password', 'paymentPassword'],
  user_password_set: ['password', 'paymentPassword'],
  signed_in: ['stop', 'password', 'paymentPassword'],
};

/** What the user is warned of on a page; null for nothing. */
export async function warningsOn(
  page: 'account' | 'security',
  request: FastifyRequest,
  context: Context,
  session: Session,
): Promise<WarningsBox | null> {
  const warnings = await findWarnings(context, session, readCookies(request, context).seen);
  const hasPaymentPassword = session.user.paymentPasswordHash !== null;
  return warnings && describeWarnings(context, page, warnings, textsOf(request), hasPaymentPassword);
}

/** Warnings as sentences, each with links to what its sentence advises. */
export function describeWarnings(
  context: Pick<Context, 'timeZone'>,
  page: 'account' | 'security',
  { events, hasMore, newest, seenToken }: Warnings,
  texts: Texts,
  hasPaymentPassword: boolean,
): WarningsBox {
  const links = linksIn(texts, hasPaymentPassword);
  const items = events.map((event) => ({
    text: sentenceOf(context, event, texts),
    ways: WAYS[event.kind].filter((way) => way !== page).map((way) => links[way]),
  }));
  const areOwn = events.every(({ kind }) => isMostOftenOwn(kind));
  const button = areOwn ? texts.warnings.wasMe : texts.warnings.seen;
  return { items, hasMore, newest, seenToken, button };
}

function sentenceOf(
  { timeZone }: Pick<Context, 'timeZone'>,
  { kind, at, clientName, network, device }: Warning,
  { warnings, history, security, formats }: Texts,
): string {
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
