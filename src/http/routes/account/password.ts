import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { changePassword, findPasswordForm } from '../../../flows/account/changePassword.ts';
import type { Context } from '../../../flows/common/context.ts';
import { MIN_PASSWORD_CHARACTERS } from '../../../rules/common/limits.ts';
import { readCookie, setCookie } from '../../browser/cookies.ts';
import { OWN_FORM, receiveForm, sessionOf } from '../../browser/forms.ts';
import { rememberOutcome } from '../../browser/outcomes.ts';
import { errorAt, refuseAttempt, refuseForm } from '../../pages/notices.ts';
import { keptAs, ownPage, seeOther, toSignIn } from '../../pages/steps.ts';
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
    app.get(`/account/${password}`, showForm(password));
    app.post(`/account/${password}`, OWN_FORM, receiveChange(password));
  }
}

const showForm =
  (password: PathOfPassword) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const path = `/account/${password}`;
    const session = await sessionOf(request);
    const form =
      session && (await findPasswordForm(request.server.context, session, PASSWORDS[password].kind));
    if (session === null || form === null) return seeOther(reply, '/account');
    const failed = errorAt(reply, path, path);
    return showPage(reply, {
      name: 'password',
      ...ownPage(session, reply),
      which: password,
      keptAs: password === 'password' ? session.user.login : keptAs(session.user),
      asked: form.currentKind === 'password' ? 'password' : 'payment-password',
      formToken: form.formToken,
      minCharacters: MIN_PASSWORD_CHARACTERS,
      error: failed?.error ?? null,
      wrong: failed?.isOfNewPassword ? 'new' : 'old',
    });
  };

const receiveChange =
  (password: PathOfPassword) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const path = `/account/${password}`;
    const { form, session } = await receiveForm(request);
    if (session === null) return toSignIn(reply);
    const sent = {
      kind: PASSWORDS[password].kind,
      currentPassword: form.get('password') ?? form.get('payment_password') ?? '',
      newPassword: form.get('new_password') ?? '',
      formToken: form.get('form_token'),
      deviceCookies: {
        password: readCookie(request, 'device'),
        'payment password': readCookie(request, 'paymentDevice'),
      },
    };
    const result = await changePassword(request.server.context, session, sent, callerOf(request));
    switch (result.outcome) {
      case 'changed':
        setCookie(reply, PASSWORDS[password].cookie, result.deviceCookie);
        rememberOutcome(reply, result.outcome, SECURITY);
        return seeOther(reply, SECURITY);
      case 'stale':
        rememberOutcome(reply, result.outcome, SECURITY);
        return seeOther(reply, SECURITY);
      case 'refused':
        refuseForm(reply, ['password_refused', result.problem], result.problem, path);
        return seeOther(reply, path);
      default: {
        const asksPayment = password === 'payment-password' && session.user.hasPaymentPassword;
        refuseAttempt(reply, result, asksPayment ? 'paymentPassword' : 'oldPassword', path);
        return seeOther(reply, path);
      }
    }
  };
