import type { FastifyInstance, FastifyReply } from 'fastify';
import { changePassword, findPasswordForms, type PasswordChangeOutcome } from '../../flows/changePassword.ts';
import type { Context } from '../../flows/context.ts';
import type { Session } from '../../flows/session.ts';
import { MIN_PASSWORD_CHARACTERS } from '../../rules/limits.ts';
import type { PasswordPage } from '../browser/accountPages.ts';
import { readCookies, setCookie } from '../browser/cookies.ts';
import { OWN_FORM, receiveForm, sessionOf } from '../browser/forms.ts';
import { textsOf } from '../browser/language.ts';
import { refuseAttempt } from '../browser/notices.ts';
import { keptAs, ownPage, seeOther } from '../browser/steps.ts';
import { showPage } from '../browser/views.ts';
import { callerOf } from '../server/caller.ts';
import { SECURITY } from './security.ts';

/** The passwords by the last part of their path. */
const PASSWORDS = {
  password: { which: 'password', cookie: 'device' },
  'payment-password': { which: 'payment password', cookie: 'paymentDevice' },
} as const;

type PathOfPassword = keyof typeof PASSWORDS;

/** The forms that change a password, each a page of its own. */
export function passwordRoutes(app: FastifyInstance, context: Context): void {
  for (const password of Object.keys(PASSWORDS) as PathOfPassword[]) {
    const path = `/account/${password}`;
    app.get(path, async (request, reply) => {
      const session = await sessionOf(request, context);
      if (session === null) return seeOther(reply, context, '/account');
      return showForm(reply, context, session, password, { error: null, wrong: 'old' });
    });
    app.post(path, OWN_FORM, async (request, reply) => {
      const { form, session } = await receiveForm(request, context);
      if (session === null) return seeOther(reply, context, '/account');
      const { device, paymentDevice } = readCookies(request, context);
      const sent = {
        which: PASSWORDS[password].which,
        old: form.get('password') ?? form.get('payment_password') ?? '',
        new: form.get('new_password') ?? '',
        formToken: form.get('form_token'),
        deviceCookies: { password: device, 'payment password': paymentDevice },
      };
      const result = await changePassword(context, session, sent, callerOf(request));
      return answerChange(reply, context, session, password, result);
    });
  }
}

async function answerChange(
  reply: FastifyReply,
  context: Context,
  session: Session,
  password: PathOfPassword,
  result: PasswordChangeOutcome,
): Promise<FastifyReply> {
  const asksPaymentPassword = password === 'payment-password' && session.user.paymentPasswordHash !== null;
  switch (result.outcome) {
    case 'changed':
      setCookie(reply, context, PASSWORDS[password].cookie, result.deviceCookie);
      return seeOther(reply, context, `${SECURITY}?said=changed`);
    case 'stale':
      return seeOther(reply, context, `${SECURITY}?said=stale`);
    case 'refused': {
      const { problems } = textsOf(reply.request).security.form;
      reply.code(422).request.logFields = { error: 'password_refused', rule: result.problem };
      const error = problems[result.problem](MIN_PASSWORD_CHARACTERS);
      return showForm(reply, context, session, password, { error, wrong: 'new' });
    }
    default: {
      const form = asksPaymentPassword ? 'oldPaymentPassword' : 'oldPassword';
      const error = refuseAttempt(reply, context, result, form);
      return showForm(reply, context, session, password, { error, wrong: 'old' });
    }
  }
}

/** @param said why the form is shown again; without an error for the first time */
async function showForm(
  reply: FastifyReply,
  context: Context,
  session: Session,
  password: PathOfPassword,
  said: Pick<PasswordPage, 'error' | 'wrong'>,
): Promise<FastifyReply> {
  const forms = await findPasswordForms(context, session);
  if (forms === null) return seeOther(reply, context, '/account');
  const { asked, formToken } = forms[PASSWORDS[password].which];
  return showPage(reply, {
    name: 'password',
    ...ownPage(context, session),
    which: password,
    keptAs: password === 'password' ? session.user.login : keptAs(session.user),
    asked: asked === 'password' ? 'password' : 'payment-password',
    formToken,
    minCharacters: MIN_PASSWORD_CHARACTERS,
    ...said,
  });
}
