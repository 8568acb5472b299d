import type { FastifyRequest } from 'fastify';
import { findWarnings, type Warning, type Warnings } from '../../flows/account/warnings.ts';
import type { Session } from '../../flows/signIn/session.ts';
import { maskOf } from '../../rules/common/network.ts';
import { readCookie } from '../browser/cookies.ts';
import { type Words, wordsFor } from './describe.ts';

export async function warningsOn(request: FastifyRequest, session: Session) {
  const warnings = await findWarnings(request.server.context, session, readCookie(request, 'seen'));
  return warnings && describeWarnings(warnings, wordsFor(request));
}

/** Each is one event, one line of facts and one question; further ones are folded, with one answer. */
export function describeWarnings({ first, others, hasMore }: Warnings, words: Words) {
  const { warnings } = words.texts;
  return {
    first: describeForm(first, words),
    others: others && {
      ...describeForm(others, words),
      heading: warnings.others(others.warnings.length),
    },
    hasMore,
  };
}

function describeForm({ warnings, answered, seenToken }: Warnings['first'], words: Words) {
  return { warnings: warnings.map((warning) => describeWarning(warning, words)), answered, seenToken };
}

function describeWarning(warning: Warning, { texts, timeZone }: Words) {
  const { kind, at, times, firstAt, clientName, network, browser, system } = warning;
  const { warnings, history, security, formats } = texts;
  const client = clientName ?? history.deletedClient;
  const device = security.device(browser, system);
  const event = { ...history.kinds, ...warnings.events }[kind];
  const { [kind]: own }: Partial<Record<typeof kind, string>> = warnings.questions;
  const facts = [
    ...(times > 1 ? [warnings.times(times, formats.day(firstAt, timeZone))] : []),
    warnings.on(formats.time(at, timeZone), times > 1),
    network === null ? warnings.unknownNetwork : history.network(maskOf(network)),
  ];
  return {
    event: event(client, device),
    facts: facts.join(' · '),
    question: own ?? warnings.question,
    yes: own ? warnings.yes.did : warnings.yes.one,
  };
}
