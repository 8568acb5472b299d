import type { FastifyReply, FastifyRequest } from 'fastify';
import { findUserSessions, type UserSession } from '../../../flows/account/userSessions.ts';
import { findWarnings } from '../../../flows/account/warnings.ts';
import { readCookie } from '../../browser/cookies.ts';
import { sessionOf } from '../../browser/forms.ts';
import { ACCOUNT_PATH } from '../../browser/language.ts';
import { lastOutcome, noteOn } from '../../browser/outcomes.ts';
import { seeOther } from '../../browser/redirects.ts';
import { type Link, type PageLocale, pageLocaleOf, passwordLinks } from '../../describe/describe.ts';
import { describeDevice, describeNetwork, describeWarnings } from '../../describe/describeWarnings.ts';
import type { Page } from '../page.ts';
import { showPage } from '../views.ts';
import { type AccountPageHead, accountPageHead, type Banner } from './accountPages.ts';

interface Fields extends AccountPageHead, Banner {
  readonly sessions: ReturnType<typeof describeSessions>;
  /** Null if the user is signed in only here. */
  readonly endOthersToken: string | null;
  readonly passwords: readonly Link[];
  /** Allow alone lets an application pay. */
  readonly isUnguarded: boolean;
}

export const SECURITY_PAGE: Page<Fields> = { name: 'security' };

export const SECURITY_PATH = '/oauth/account/security';

/** The user's sessions and passwords. */
export async function showSecurity(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { context } = request.server;
  const session = await sessionOf(request);
  if (session === null) return seeOther(reply);
  const said = lastOutcome(reply, SECURITY_PATH)?.outcome;
  const locale = pageLocaleOf(request);
  const { account, security } = locale.texts;
  const [{ sessions, endOthersToken }, warnings] = await Promise.all([
    findUserSessions(context, session),
    findWarnings(context, session, readCookie(request, 'seen')),
  ]);
  return showPage(reply, SECURITY_PAGE, {
    ...accountPageHead(session, reply),
    sessions: describeSessions(sessions, session.now, locale),
    endOthersToken,
    warnings: warnings && describeWarnings(warnings, locale),
    passwords: passwordLinks(locale, session.user.hasPaymentPassword),
    isUnguarded: !session.user.hasPaymentPassword && !context.confirmsPayments,
    done: said === 'ended' || said === 'changed' ? security[said] : null,
    ways: said === 'changed' ? [{ href: ACCOUNT_PATH, text: account.title }] : [],
    undone: noteOn(reply, SECURITY_PATH, session.user),
  });
}

/** Sessions in terms that their user knows. @param now decides which day is today */
export function describeSessions(
  sessions: readonly UserSession[],
  now: Date,
  { texts, timeZone }: PageLocale,
) {
  const { security, formats } = texts;
  const counts = new Map<string, number>();
  const when = (time: Date) =>
    formats.time(time, timeZone).replace(formats.day(now, timeZone), security.today);
  return sessions.map((session) => {
    const { sessionId, isCurrent, network, createdAt, seenAt, endToken } = session;
    const device = describeDevice(session, texts);
    const one = {
      sessionId,
      device: isCurrent ? `${security.thisSession} (${device})` : device,
      network: describeNetwork(network, texts),
      since: security.since({ time: when(createdAt) }),
      seen: security.seen({ time: when(seenAt) }),
      endToken,
    };
    const shown = JSON.stringify([one.device, one.network, one.since]);
    const count = (counts.get(shown) ?? 0) + 1;
    counts.set(shown, count);
    return count === 1
      ? one
      : { ...one, device: security.alike({ device: one.device, number: formats.number(count) }) };
  });
}
