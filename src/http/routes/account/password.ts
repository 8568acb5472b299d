import type { FastifyInstance, FastifyReply } from 'fastify';
import { changePassword, findPasswordForm } from '../../../flows/account/changePassword.ts';
import type { Context } from '../../../flows/common/context.ts';
import type { Session } from '../../../flows/signIn/session.ts';
import { MIN_PASSWORD_CHARACTERS } from '../../../rules/common/limits.ts';
import { readCookies, setCookie } from '../../browser/cookies.ts';
import { OWN_FORM, receiveForm, sessionOf } from '../../browser/forms.ts';
import { forgetOutcome } from '../../browser/outcomes.ts';
import { errorAt, refuseAttempt, refuseForm } from '../../pages/notices.ts';
import { keptAs, ownPage, seeOther } from '../../pages/steps.ts';
import { showPage } from '../../pages/views.ts';
import { callerOf } from '../../request/caller.ts';
import { SECURITY } from './security.ts';

const PASSWORDS = {
  password: { kind: 'password', cookie: 'device' },
  'payment-password': { kind: 'payment password', cookie: 'paymentDevice' },
} as const;

type PathOfPassword = keyof typeof PASSWORDS;

/** The provider keeps the password, and with an `acr` confirms payments. */
function offered({ provider }: Context): readonly PathOfPassword[] {
  if (provider === null) return ['password', 'payment-password'];
  return provider.paymentAcr === null ? ['payment-password'] : [];
}

export function passwordRoutes(app: FastifyInstance, context: Context): void {
  for (const password of offered(context)) {
    const path = `/account/${password}`;
    app.get(path, async (request, reply) => {
      const session = await sessionOf(request);
      if (session === null) return seeOther(reply, '/account');
      return showForm(reply, session, password);
    });
    app.post(path, OWN_FORM, async (request, reply) => {
      const { form, session } = await receiveForm(request);
      if (session === null) return seeOther(reply, '/account');
      const { device, paymentDevice } = readCookies(request);
      const sent = {
        kind: PASSWORDS[password].kind,
        currentPassword: form.get('password') ?? form.get('payment_password') ?? '',
        newPassword: form.get('new_password') ?? '',
        formToken: form.get('form_token'),
        deviceCookies: { password: device, 'payment password': paymentDevice },
      };
      const result = await changePassword(context, session, sent, callerOf(request));
      switch (result.outcome) {
        case 'changed':
          setCookie(reply, PASSWORDS[password].cookie, result.deviceCookie);
          forgetOutcome(reply);
          return seeOther(reply, `${SECURITY}?said=changed`);
        case 'stale':
          return seeOther(reply, `${SECURITY}?said=stale`);
        case 'refused':
          refuseForm(reply, ['password_refused', result.problem], result.problem, path);
          return seeOther(reply, path);
        default: {
          const asksPayment = password === 'payment-password' && session.user.hasPaymentPassword;
          refuseAttempt(reply, result, asksPayment ? 'oldPaymentPassword' : 'oldPassword', path);
          return seeOther(reply, path);
        }
      }
    });
  }
}

async function showForm(
  reply: FastifyReply,
  session: Session,
  password: PathOfPassword,
): Promise<FastifyReply> {
  const form = await findPasswordForm(reply.server.context, session, PASSWORDS[password].kind);
  if (form === null) return seeOther(reply, '/account');
  const { currentKind, formToken } = form;
  const path = `/account/${password}`;
  const failed = errorAt(reply, path, path);
  return showPage(reply, {
    name: 'password',
    ...ownPage(session, reply),
    which: password,
    keptAs: password === 'password' ? session.user.login : keptAs(session.user),
    asked: currentKind === 'password' ? 'password' : 'payment-password',
    formToken,
    minCharacters: MIN_PASSWORD_CHARACTERS,
    error: failed?.error ?? null,
    wrong: failed?.isOfNewPassword ? 'new' : 'old',
  });
}
