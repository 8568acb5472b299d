import type { FastifyInstance } from 'fastify';
import { OWN_FORM } from '../../browser/forms.ts';
import { addressBehind, chooseLanguage } from '../../browser/language.ts';
import { seeOther } from '../../pages/steps.ts';
import { bodyParameters } from '../../request/parameters.ts';

/** The form at the foot of every page: keeps the language, and leads back to that page. */
export function languageRoutes(app: FastifyInstance): void {
  app.post('/language', OWN_FORM, async (request, reply) => {
    const form = bodyParameters(request);
    await chooseLanguage(reply, form);
    return seeOther(reply, addressBehind(form) ?? '/account');
  });
}
