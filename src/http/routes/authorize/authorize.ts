import type { FastifyInstance } from 'fastify';
import { authorize, loadAuthorizationRequest } from '../../../flows/authorize/authorize.ts';
import type { Context } from '../../../flows/common/context.ts';
import { postedParameters } from '../../../rules/request/authorizationRequest.ts';
import { readCookies } from '../../browser/cookies.ts';
import { backToRequest, showStep } from '../../pages/steps.ts';
import { bodyParameters, queryParameters } from '../../request/parameters.ts';

/** The authorization endpoint (contract 4.1). An undecided request writes nothing: its URL is its state. */
export function authorizeRoutes(app: FastifyInstance, context: Context): void {
  app.get('/oauth/authorize', async (request, reply) => {
    const step = await authorize(context, queryParameters(request), readCookies(request));
    return showStep(reply, step);
  });

  // The application's form comes from another site, hence without a session: the GET of the 303 brings it.
  app.post('/oauth/authorize', async (request, reply) => {
    const parameters = postedParameters(queryParameters(request), bodyParameters(request));
    const authorizationRequest = await loadAuthorizationRequest(context, parameters);
    return backToRequest(reply, authorizationRequest);
  });
}
