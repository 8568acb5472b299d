import type { FastifyInstance } from 'fastify';
import { authorize, loadAuthorizationRequest } from '../../../flows/authorize/authorize.ts';
import type { Context } from '../../../flows/common/context.ts';
import { saveLanguage } from '../../../flows/signIn/session.ts';
import { postedParameters } from '../../../rules/request/authorizationRequest.ts';
import { readCookies, setCookie } from '../../browser/cookies.ts';
import { FORM_OPTIONS, isFromOwnPage, sessionOf } from '../../browser/forms.ts';
import { parseReturnPath } from '../../browser/language.ts';
import { redirectToRequest, seeOther } from '../../browser/redirects.ts';
import { showConsent } from '../../pages/consentPage.ts';
import { showTooManyInstances } from '../../pages/noticePage.ts';
import { showSignIn } from '../../pages/signInPage.ts';
import { bodyParameters, queryParameters } from '../../request/parameters.ts';

/** The authorization endpoint (contract 4.1), and the language of its pages. */
export function authorizeRoutes(app: FastifyInstance, context: Context): void {
  // An undecided request writes nothing: its URL is its state.
  app.get('/oauth/authorize', async (request, reply) => {
    const step = await authorize(context, queryParameters(request), readCookies(request));
    if (step.step === 'sign-in') return showSignIn(reply, step);
    if (step.step === 'full') return showTooManyInstances(reply, step.authorizationRequest);
    return showConsent(reply, step);
  });

  // The application's form comes from another site, hence without a session: the GET of the 303 brings it.
  app.post('/oauth/authorize', async (request, reply) => {
    const parameters = postedParameters(queryParameters(request), bodyParameters(request));
    const authorizationRequest = await loadAuthorizationRequest(context, parameters);
    return redirectToRequest(reply, authorizationRequest);
  });

  // The form at the foot of every page: keeps the language in this browser and with its user, and leads back to that page.
  app.post('/oauth/language', FORM_OPTIONS, async (request, reply) => {
    const form = bodyParameters(request);
    const language = context.languages.find(form.get('language'));
    if (language !== undefined && isFromOwnPage(request)) {
      setCookie(reply, 'language', language.tag);
      const session = await sessionOf(request).catch(() => null); // without the database the cookie suffices
      if (session !== null) await saveLanguage(context, session.user, language.tag);
    }
    return seeOther(reply, parseReturnPath(form));
  });
}
