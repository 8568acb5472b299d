import type { FastifyRequest } from 'fastify';
import { findWarnings, isAlarming, type Warning, type Warnings } from '../../flows/account/warnings.ts';
import type { Session } from '../../flows/signIn/session.ts';
import { inSentence } from '../../languages/formats.ts';
import { beginningOf } from '../../rules/common/network.ts';
import { readCookies } from '../browser/cookies.ts';
import { type Words, wordsFor } from './describe.ts';
import { toAccount, toPasswords, toStop } from './links.ts';

export async function warningsOn(page: 'account' | 'security', request: FastifyRequest, session: Session) {
  const warnings = await findWarnings(request.server.context, session, readCookies(request).seen);
  return warnings && describeWarnings(page, warnings, session.user, wordsFor(request));
}

export function describeWarnings(
  page: 'account' | 'security',
  { first, others, hasMore }: Warnings,
  { hasPaymentPassword }: Pick<Session['user'], 'hasPaymentPassword'>,
  words: Words,
) {
  const { texts } = words;
  const toPage = page === 'account' ? [] : [toAccount(texts)];
  return {
    first: describeForm(first, 'one', words),
    others: others && {
      ...describeForm(others, 'all', words),
      heading: texts.warnings.others(others.warnings.length),
    },
    hasMore,
    ways: [toStop(texts), ...toPage, ...toPasswords(words, hasPaymentPassword)],
  };
}

function describeForm(
  { warnings, answered, seenToken }: Warnings['first'],
  which: 'one' | 'all',
  words: Words,
) {
  const areOwn = !warnings.some(({ kind }) => isAlarming(kind));
  const button = words.texts.warnings[areOwn ? 'wasMe' : 'seen'][which];
  return { texts: warnings.map((warning) => textOf(warning, words)), answered, seenToken, button };
}

function textOf(warning: Warning, { texts, timeZone }: Words): string {
  const { kind, at, times, firstAt, clientName, network, browser, system } = warning;
  const { warnings, history, security, formats } = texts;
  const client = clientName ?? history.deletedClient;
  const from = network === null ? warnings.unknownNetwork : history.network(beginningOf(network));
  const name = browser ?? inSentence(security.unknownBrowser);
  const device = security.device(name, system ?? security.unknownSystem);
  const last = warnings.kinds[kind](client, formats.time(at, timeZone), from, device);
  return times === 1 ? last : `${last} ${warnings.times(times, formats.time(firstAt, timeZone))}`;
}
