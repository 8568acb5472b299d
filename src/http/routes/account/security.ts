import type { FastifyInstance, FastifyReply } from 'fastify';
import { isEverythingStopped, stopEverything } from '../../../flows/account/disconnect.ts';
import { endSession, findUserSessions } from '../../../flows/account/userSessions.ts';
import { seeWarnings } from '../../../flows/account/warnings.ts';
import type { Context } from '../../../flows/common/context.ts';
import type { Session } from '../../../flows/signIn/session.ts';
import type { Texts } from '../../../languages/languages.ts';
import { readCookies, setCookie } from '../../browser/cookies.ts';
import { OWN_FORM, receiveForm, sessionOf } from '../../browser/forms.ts';
import { wordsFor } from '../../describe/describe.ts';
import { describeSessions } from '../../describe/describeAccount.ts';
import { toPasswords } from '../../describe/links.ts';
import { warningsOn } from '../../describe/warnings.ts';
import { showTooMany } from '../../pages/notices.ts';
import { ownPage, seeOther } from '../../pages/steps.ts';
import { showPage } from '../../pages/views.ts';
import { callerOf } from '../../request/caller.ts';
import { queryParameters } from '../../request/parameters.ts';

export const SECURITY = '/account/security';

/** Where the user is signed in; the end of sessions, of warnings once seen, and of everything. */
export function securityRoutes(app: FastifyInstance, context: Context): void {
  app.get(SECURITY, async (request, reply) => {
    const session = await sessionOf(request);
    if (session === null) return seeOther(reply, '/account');
    return showSecurity(reply, session, queryParameters(request).get('said'));
  });

  app.post('/account/sessions/end', OWN_FORM, async (request, reply) => {
    const { form, session } = await receiveForm(request);
    if (session === null) return seeOther(reply, '/account');
    const sent = { sessionId: form.get('session_id') ?? '', formToken: form.get('form_token') };
    const { outcome } = await endSession(context, session, sent, callerOf(request));
    return seeOther(reply, `${SECURITY}?said=${outcome}`);
  });

  app.post('/account/sessions/end-others', OWN_FORM, async (request, reply) => {
    const { form, session } = await receiveForm(request);
    if (session === null) return seeOther(reply, '/account');
    const sent = { sessionId: null, formToken: form.get('form_token') };
    const { outcome } = await endSession(context, session, sent, callerOf(request));
    return seeOther(reply, `${SECURITY}?said=${outcome}`);
  });

  // The user has seen the warnings: this browser says them no more.
  app.post('/account/warnings', OWN_FORM, async (request, reply) => {
    const { form, session } = await receiveForm(request);
    if (session === null) return seeOther(reply, '/account');
    const sent = { newest: form.get('newest') ?? '', formToken: form.get('form_token') };
    const seen = seeWarnings(context, session, sent, readCookies(request).seen);
    if (seen !== null) setCookie(reply, 'seen', seen);
    return seeOther(reply, form.get('page') === 'security' ? SECURITY : '/account');
  });

  // Disconnects every application and signs out every other browser.
  app.post('/account/stop', OWN_FORM, async (request, reply) => {
    const { form, session } = await receiveForm(request);
    if (session === null) return seeOther(reply, '/account?undone=stop');
    const { outcome } = await stopEverything(context, session, form.get('form_token'), callerOf(request));
    if (outcome === 'stale') return seeOther(reply, '/account?undone=stop');
    if (outcome === 'too_many') return showTooMany(reply, '/account', 'stop');
    return seeOther(reply, '/account?stopped=everything');
  });
}

/** @param said once: `ended`, `changed` or `stale` */
async function showSecurity(
  reply: FastifyReply,
  session: Session,
  said: string | undefined,
): Promise<FastifyReply> {
  const { request } = reply;
  const words = wordsFor(request);
  const { account, security } = words.texts;
  const [{ sessions, endOthersToken }, warnings] = await Promise.all([
    findUserSessions(request.server.context, session),
    warningsOn('security', request, session),
  ]);
  return showPage(reply, {
    name: 'security',
    ...ownPage(session, reply),
    sessions: describeSessions(sessions, session.now, words),
    endOthersToken,
    warnings,
    hasPaymentPassword: session.user.hasPaymentPassword,
    done: said === 'ended' || said === 'changed' ? security[said] : null,
    ways: said === 'changed' ? [{ href: '/account', text: account.title }] : [],
    undone: said === 'stale' ? security.undone : null,
  });
}

/** The account page after everything was stopped says what is true now: anyone could have made the link. */
export async function describeStop(context: Context, session: Session, texts: Texts) {
  const { stop } = texts;
  if (!(await isEverythingStopped(context, session))) {
    return { title: stop.titleUndone, done: null, ways: [], undone: stop.undone };
  }
  const ways = toPasswords(texts, session.user.hasPaymentPassword);
  return { title: stop.titleDone, done: stop.done, ways, undone: null };
}
