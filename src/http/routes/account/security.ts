import type { FastifyInstance } from 'fastify';
import { changePassword, findPasswordForm } from '../../../flows/account/changePassword.ts';
import { endSession } from '../../../flows/account/userSessions.ts';
import { takesPassword } from '../../../flows/authorize/confirmPayment.ts';
import type { Context } from '../../../flows/common/context.ts';
import type { PasswordKind } from '../../../flows/signIn/device.ts';
import { callerOf } from '../../../listener/caller.ts';
import { readCookie, setCookie } from '../../browser/cookies.ts';
import { sessionOf } from '../../browser/forms.ts';
import { rememberOutcome } from '../../browser/outcomes.ts';
import { seeOther } from '../../browser/redirects.ts';
import { addAccountForm } from '../../pages/account/accountPages.ts';
import { showPasswordPage } from '../../pages/account/passwordPage.ts';
import { SECURITY_PATH, showSecurity } from '../../pages/account/securityPage.ts';
import { refuseAttempt, refuseForm } from '../../pages/formErrors.ts';

/** The user's sessions and passwords. */
export function securityRoutes(app: FastifyInstance, context: Context): void {
  app.get(SECURITY_PATH, showSecurity);
  // The provider keeps the password, and with an `acr` confirms payments.
  if (context.provider === null) passwordRoutes(app, context, 'password');
  if (takesPassword(context)) passwordRoutes(app, context, 'payment password');

  addAccountForm(app, '/oauth/account/sessions/end', async (form, session, reply) => {
    const sent = { sessionId: form.get('session_id') ?? null, formToken: form.get('form_token') };
    const outcome = await endSession(context, session, sent, callerOf(reply.request));
    rememberOutcome(reply, outcome, SECURITY_PATH);
    return outcome === 'ended' && form.hasAny(['then']) ? '/oauth/account/password' : SECURITY_PATH;
  });
}

function passwordRoutes(app: FastifyInstance, context: Context, kind: PasswordKind) {
  const path = `/oauth/account/${kind.replace(' ', '-')}`;
  const isPayment = kind === 'payment password';
  const cookie = isPayment ? 'paymentDevice' : 'device';

  app.get(path, async (request, reply) => {
    const session = await sessionOf(request);
    const form = session && (await findPasswordForm(context, session, kind));
    if (session === null || form === null) return seeOther(reply);
    return showPasswordPage(reply, path, session, form);
  });

  addAccountForm(app, path, async (form, session, reply) => {
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
      rememberOutcome(reply, result.outcome, SECURITY_PATH);
      return SECURITY_PATH;
    }
    const asksPayment = isPayment && session.user.hasPaymentPassword;
    if (result.outcome === 'refused')
      refuseForm(reply, ['password_refused', result.problem], result.problem, path);
    else refuseAttempt(reply, result, asksPayment ? 'paymentPassword' : 'oldPassword', path);
    return path;
  });
}
