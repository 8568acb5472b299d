import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { changePassword, findPasswordForm } from '../../../flows/account/changePassword.ts';
import { endSession, findUserSessions } from '../../../flows/account/userSessions.ts';
import { findWarnings } from '../../../flows/account/warnings.ts';
import type { Context } from '../../../flows/common/context.ts';
import { callerOf } from '../../../listener/caller.ts';
import { readCookie, setCookie } from '../../browser/cookies.ts';
import { sessionOf } from '../../browser/forms.ts';
import { ACCOUNT } from '../../browser/language.ts';
import { lastOutcome, noteOn, rememberOutcome } from '../../browser/outcomes.ts';
import { pageLanguageOf, toPasswords } from '../../describe/describe.ts';
import { describeSessions, describeWarnings } from '../../describe/describeAccount.ts';
import { errorAt, refuseAttempt, refuseForm } from '../../pages/notices.ts';
import { addOwnForm, keptAs, ownPage, seeOther } from '../../pages/steps.ts';
import { showPage } from '../../pages/views.ts';

const SECURITY = '/oauth/account/security';

/** The user's sessions and passwords. */
export function securityRoutes(app: FastifyInstance, context: Context): void {
  app.get(SECURITY, showSecurity);
  // The provider keeps the password, and with an `acr` confirms payments.
  if (context.provider === null) passwordRoutes(app, context, 'password');
  if (context.provider?.paymentAcr == null) passwordRoutes(app, context, 'payment-password');

  // Ends one session or, without an id, all others.
  addOwnForm(app, '/oauth/account/sessions/end', async (form, session, reply) => {
    const sent = { sessionId: form.get('session_id') ?? null, formToken: form.get('form_token') };
    const { outcome } = await endSession(context, session, sent, callerOf(reply.request));
    rememberOutcome(reply, outcome, SECURITY);
    return SECURITY;
  });
}

async function showSecurity(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { context } = request.server;
  const session = await sessionOf(request);
  if (session === null) return seeOther(reply);
  const said = lastOutcome(reply, SECURITY)?.outcome;
  const words = pageLanguageOf(request);
  const { account, security } = words.texts;
  const [{ sessions, endOthersToken }, warnings] = await Promise.all([
    findUserSessions(context, session),
    findWarnings(context, session, readCookie(request, 'seen')),
  ]);
  return showPage(reply, {
    name: 'security',
    ...ownPage(session, reply),
    sessions: describeSessions(sessions, session.now, words),
    endOthersToken,
    warnings: warnings && describeWarnings(warnings, words),
    passwords: toPasswords(words, session.user.hasPaymentPassword),
    isUnguarded: !session.user.hasPaymentPassword && !context.confirmsPayments,
    done: said === 'ended' || said === 'changed' ? security[said] : null,
    ways: said === 'changed' ? [{ href: ACCOUNT, text: account.title }] : [],
    undone: noteOn(reply, SECURITY, session.user),
  });
}

function passwordRoutes(app: FastifyInstance, context: Context, which: 'password' | 'payment-password') {
  const path = `/oauth/account/${which}`;
  const isPayment = which === 'payment-password';
  const kind = isPayment ? ('payment password' as const) : ('password' as const);
  const cookie = isPayment ? 'paymentDevice' : 'device';

  app.get(path, async (request, reply) => {
    const session = await sessionOf(request);
    const form = session && (await findPasswordForm(context, session, kind));
    if (session === null || form === null) return seeOther(reply);
    const failed = errorAt(reply, path, path);
    return showPage(reply, {
      name: 'password',
      ...ownPage(session, reply),
      which,
      keptAs: isPayment ? keptAs(session.user) : session.user.login,
      asked: form.currentKind === 'password' ? 'password' : 'payment-password',
      formToken: form.formToken,
      error: failed?.error ?? null,
      wrong: failed?.isOfNewPassword ? 'new' : 'old',
    });
  });

  addOwnForm(app, path, async (form, session, reply) => {
    const { request } = reply;
    const deviceCookies = {
      password: readCookie(request, 'device'),
      'payment password': readCookie(request, 'paymentDevice'),
    };
    const currentPassword = form.get('password') ?? form.get('payment_password') ?? '';
    const newPassword = form.get('new_password') ?? '';
    const sent = { kind, currentPassword, newPassword, formToken: form.get('form_token'), deviceCookies };
    const result = await changePassword(context, session, sent, callerOf(request));
    if (result.outcome === 'changed') setCookie(reply, cookie, result.deviceCookie);
    if (result.outcome === 'changed' || result.outcome === 'stale') {
      rememberOutcome(reply, result.outcome, SECURITY);
      return SECURITY;
    }
    const asksPayment = isPayment && session.user.hasPaymentPassword;
    if (result.outcome === 'refused')
      refuseForm(reply, ['password_refused', result.problem], result.problem, path);
    else refuseAttempt(reply, result, asksPayment ? 'paymentPassword' : 'oldPassword', path);
    return path;
  });
}
