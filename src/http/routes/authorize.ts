import type { FastifyInstance, FastifyRequest } from 'fastify';
import { loadAuthorizationRequest } from '../../flows/loadRequest.ts';
import { nextStep } from '../../flows/nextStep.ts';
import { AUTHORIZATION_PARAMETERS } from '../../rules/authorizationRequest.ts';
import { OAuthError } from '../../rules/error.ts';
import type { Parameters } from '../../rules/parameters.ts';
import { type Site, sessionOf } from '../browser/cookies.ts';
import { backToRequest, showSignIn, showStep } from '../browser/steps.ts';
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
    const authorizationRequest = await loadAuthorizationRequest(site.context, postedParameters(request));
    return backToRequest(reply, site, authorizationRequest);
  });
}

/** The body's parameters, or the query's when an SDK posts an empty body; never a mixture of both. */
function postedParameters(request: FastifyRequest): Parameters {
  const query = queryParameters(request);
  const body = bodyParameters(request);
  if (!query.hasAny(AUTHORIZATION_PARAMETERS)) return body;
  if (body.hasAny(AUTHORIZATION_PARAMETERS)) {
    throw new OAuthError('invalid_request', 'The parameters were sent in the body and in the URL at once.');
  }
  return query;
}
