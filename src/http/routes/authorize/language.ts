import type { FastifyInstance } from 'fastify';
import { keepLanguage } from '../../../flows/signIn/session.ts';
import { isLanguage } from '../../../languages/languages.ts';
import { setCookie } from '../../browser/cookies.ts';
import { isFromOwnPage, OWN_FORM, sessionOf } from '../../browser/forms.ts';
import { addressBehind } from '../../browser/language.ts';
import { seeOther } from '../../pages/steps.ts';
import { bodyParameters } from '../../request/parameters.ts';

/** The form at the foot of every page: keeps the language in this browser and with its user, and leads back to that page. */
export function languageRoutes(app: FastifyInstance): void {
  app.post('/language', OWN_FORM, async (request, reply) => {
    const form = bodyParameters(request);
    const tag = form.get('language');
    if (isLanguage(tag) && isFromOwnPage(request)) {
      setCookie(reply, 'language', tag);
      const session = await sessionOf(request).catch(() => null); // without the database the cookie suffices
      if (session !== null) await keepLanguage(request.server.context, session.user, tag);
    }
    return seeOther(reply, addressBehind(form) ?? '/account');
  });
}
