import type { FastifyInstance } from 'fastify';
import type { Context } from '../../flows/context.ts';
import { seeWarnings } from '../../flows/warnings.ts';
import { readCookies, setCookie } from '../browser/cookies.ts';
import { OWN_FORM, receiveForm } from '../browser/forms.ts';
import { seeOther } from '../browser/steps.ts';
import { SECURITY } from './security.ts';

/** The user has seen the warnings: this browser says them no more. */
export function warningRoutes(app: FastifyInstance, context: Context): void {
  app.post('/account/warnings', OWN_FORM, async (request, reply) => {
    const { form, session } = await receiveForm(request, context);
    if (session === null) return seeOther(reply, context, '/account');
    const sent = { newest: form.get('newest') ?? '', formToken: form.get('form_token') };
    const seen = seeWarnings(context, session, sent, readCookies(request, context).seen);
    if (seen !== null) setCookie(reply, context, 'seen', seen);
    return seeOther(reply, context, form.get('page') === 'security' ? SECURITY : '/account');
  });
}
