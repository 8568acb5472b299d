import type { FastifyInstance } from 'fastify';
import { loadAuthorizationRequest } from '../../flows/loadRequest.ts';
import { nextStep } from '../../flows/nextStep.ts';
import { postedParameters } from '../../rules/authorizationRequest.ts';
import { backToRequest, showSignIn, showStep } from '../browser/flowPages.ts';
import { type Site, sessionOf } from '../browser/session.ts';
import { bodyParameters, queryParameters } from '../server/parameters.ts';

/** The authorization endpoint (contract 4.1). A request that nobody has decided writes nothing: its URL is its state. */
export async function authorizeRoutes(app: FastifyInstance, site: Site): Promise<void> {
  app.get('/oauth/authorize', async (request, reply) => {
    const [authorizationRequest, session] = await Promise.all([
      loadAuthorizationRequest(site.context, queryParameters(request)),
      sessionOf(request, site),
    ]);
    const step = await nextStep(site.context, authorizationRequest, session);
    if (step.step === 'sign-in') return showSignIn(request, reply, site, authorizationRequest);
    return showStep(reply, site, authorizationRequest, step);
  });

  // The application's form comes from another site, so no session comes with it. The redirect to the same
  // request as a GET brings the session, and makes reload and Back work.
  app.post('/oauth/authorize', async (request, reply) => {
    const parameters = postedParameters(queryParameters(request), bodyParameters(request));
    const authorizationRequest = await loadAuthorizationRequest(site.context, parameters);
    return backToRequest(reply, site, authorizationRequest);
  });
}
