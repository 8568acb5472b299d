import type { FastifyInstance, FastifyRequest } from 'fastify';
import { authorize, loadAuthorizationRequest } from '../../flows/authorize.ts';
import type { Context } from '../../flows/context.ts';
import { AUTHORIZATION_PARAMETERS } from '../../rules/authorizationRequest.ts';
import { OAuthError } from '../../rules/error.ts';
import type { Parameters } from '../../rules/parameters.ts';
import { readCookie } from '../browser/cookies.ts';
import { backToRequest, showStep } from '../browser/steps.ts';
import { bodyParameters, queryParameters } from '../server/parameters.ts';

/** The authorization endpoint (contract 4.1). A request that is not decided yet writes nothing: its URL is its state. */
export async function authorizeRoutes(app: FastifyInstance, context: Context): Promise<void> {
  app.get('/oauth/authorize', async (request, reply) => {
    const cookies = {
      session: readCookie(request, context, 'session'),
      preLogin: readCookie(request, context, 'preLogin'),
    };
    return showStep(reply, context, await authorize(context, queryParameters(request), cookies));
  });

  // The application's form comes from another site, so no session comes with it: the 303 to the same request as a GET
  // brings the session.
  app.post('/oauth/authorize', async (request, reply) => {
    const authorizationRequest = await loadAuthorizationRequest(context, postedParameters(request));
    return backToRequest(reply, context, authorizationRequest);
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
