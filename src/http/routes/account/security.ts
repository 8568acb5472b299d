import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isEverythingStopped, stopEverything, stopToken } from '../../../flows/account/disconnect.ts';
import { endSession, findUserSessions } from '../../../flows/account/userSessions.ts';
import { seeAll, seeWarnings } from '../../../flows/account/warnings.ts';
import type { Context } from '../../../flows/common/context.ts';
import type { Session } from '../../../flows/signIn/session.ts';
import { readCookie, setCookie } from '../../browser/cookies.ts';
import { OWN_FORM, receiveForm, sessionOf } from '../../browser/forms.ts';
import { lastOutcome, noteOn, rememberOutcome } from '../../browser/outcomes.ts';
import { type Words, wordsFor } from '../../describe/describe.ts';
import { describeSessions } from '../../describe/describeAccount.ts';
import { toPasswords } from '../../describe/links.ts';
import { warningsOn } from '../../describe/warnings.ts';
import { refuseDecision } from '../../pages/notices.ts';
import { ownPage, seeOther, toSignIn } from '../../pages/steps.ts';
import { showPage } from '../../pages/views.ts';
import { callerOf } from '../../request/caller.ts';

export const SECURITY = '/account/security';
const STOP = '/account/stop';

/** The user's sessions; ends sessions, seen warnings, and everything. */
export function securityRoutes(app: FastifyInstance): void {
  app.get(SECURITY, showSecurity);
  app.post('/account/sessions/end', OWN_FORM, endSessions);
  app.post('/account/warnings', OWN_FORM, receiveSeen);
  app.get(STOP, showStop);
  app.post(STOP, OWN_FORM, receiveStop);
}

async function showSecurity(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { context } = request.server;
  const session = await sessionOf(request);
  if (session === null) return seeOther(reply, '/account');
  const said = lastOutcome(reply, SECURITY)?.outcome;
  const words = wordsFor(request);
  const { account, security } = words.texts;
  const [{ sessions, endOthersToken }, warnings] = await Promise.all([
    findUserSessions(context, session),
    warningsOn(request, session),
  ]);
  return showPage(reply, {
    name: 'security',
    ...ownPage(session, reply),
    sessions: describeSessions(sessions, session.now, words),
    endOthersToken,
    warnings,
    passwords: toPasswords(words, session.user.hasPaymentPassword),
    isUnguarded: !session.user.hasPaymentPassword && !context.confirmsPayments,
    done: said === 'ended' || said === 'changed' ? security[said] : null,
    ways: said === 'changed' ? [{ href: '/account', text: account.title }] : [],
    undone: noteOn(reply, SECURITY, session.user),
  });
}

/** Ends one session or, without an id, all others. */
async function endSessions(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { context } = request.server;
  const { form, session } = await receiveForm(request);
  if (session === null) return toSignIn(reply);
  const sent = { sessionId: form.get('session_id') ?? null, formToken: form.get('form_token') };
  const { outcome } = await endSession(context, session, sent, callerOf(request));
  rememberOutcome(reply, outcome, SECURITY);
  return seeOther(reply, SECURITY);
}

async function receiveSeen(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { context } = request.server;
  const { form, session } = await receiveForm(request);
  if (session === null) return toSignIn(reply);
  const sent = { answered: form.get('answered') ?? '', formToken: form.get('form_token') };
  const seen = await seeWarnings(context, session, sent, readCookie(request, 'seen'));
  if (seen !== null) setCookie(reply, 'seen', seen);
  return seeOther(reply, form.get('page') === 'security' ? SECURITY : '/account');
}

async function showStop(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { context } = request.server;
  const session = await sessionOf(request);
  if (session === null) return toSignIn(reply);
  const undone = noteOn(reply, STOP, session.user);
  const formToken = stopToken(context, session);
  return showPage(reply, { name: 'stop', ...ownPage(session, reply), formToken, undone });
}

/** Disconnects every application and signs out every other browser. */
async function receiveStop(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { context } = request.server;
  const { form, session } = await receiveForm(request);
  if (session === null) return toSignIn(reply);
  const { outcome } = await stopEverything(context, session, form.get('form_token'), callerOf(request));
  if (outcome === 'stale') rememberOutcome(reply, outcome, STOP);
  if (outcome === 'too_many') refuseDecision(reply, STOP, 'not_stopped');
  if (outcome !== 'pressed') return seeOther(reply, STOP);
  // Who stops everything has answered all warnings.
  setCookie(reply, 'seen', await seeAll(context, session, readCookie(request, 'seen')));
  rememberOutcome(reply, outcome, '/account');
  return seeOther(reply, '/account');
}

/** The account page after stopping everything describes the current state: some of many thousands may be left. */
export async function describeStop(context: Context, session: Session, words: Words) {
  const { stop } = words.texts;
  if (!(await isEverythingStopped(context, session)))
    return {
      title: stop.titleUndone,
      done: null,
      undone: stop.undone,
      ways: [{ href: STOP, text: stop.see }],
    };
  const ways = toPasswords(words, session.user.hasPaymentPassword);
  return { title: stop.titleDone, done: stop.done, undone: null, ways };
}
