import type { FastifyInstance } from 'fastify';
import { authorize, loadAuthorizationRequest } from '../../flows/authorize.ts';
import type { Context } from '../../flows/context.ts';
import { postedParameters } from '../../rules/authorizationRequest.ts';
import { readCookies } from '../browser/cookies.ts';
import { backToRequest, showStep } from '../browser/steps.ts';
import { bodyParameters, queryParameters } from '../parameters.ts';

/** The authorization endpoint (contract 4.1). A request that is not decided yet writes nothing: its URL is its state. */
export function authorizeRoutes(app: FastifyInstance, context: Context): void {
  app.get('/oauth/authorize', async (request, reply) => {
    const step = await authorize(context, queryParameters(request), readCookies(request, context));
    return showStep(reply, context, step);
  });

  // The application's form comes from another site, so no session comes with it: the 303 to the same request as a GET
  // brings the session.
  app.post('/oauth/authorize', async (request, reply) => {
    const parameters = postedParameters(queryParameters(request), bodyParameters(request));
    const authorizationRequest = await loadAuthorizationRequest(context, parameters);
    return backToRequest(reply, context, authorizationRequest);
  });
}
