import type { FastifyInstance } from 'fastify';
import type { Context } from '../../flows/context.ts';
import { OWN_FORM } from '../browser/forms.ts';
import { addressBehind, chooseLanguage } from '../browser/language.ts';
import { seeOther } from '../browser/steps.ts';
import { bodyParameters } from '../parameters.ts';

/** The form at the foot of every page: keeps the language, and leads back to that page. */
export function languageRoutes(app: FastifyInstance, context: Context): void {
  app.post('/language', OWN_FORM, async (request, reply) => {
    const form = bodyParameters(request);
    chooseLanguage(request, reply, context, form);
    return seeOther(reply, context, addressBehind(form) ?? '/account');
  });
}
