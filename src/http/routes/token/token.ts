import type { FastifyInstance } from 'fastify';
import type { Context } from '../../../flows/common/context.ts';
import { exchange } from '../../../flows/token/exchange.ts';
import { parseTokenRequest } from '../../../rules/request/tokenRequest.ts';
import { callerOf } from '../../request/caller.ts';
import { sendJson } from '../../request/json.ts';
import { bodyParameters, queryParameters } from '../../request/parameters.ts';

/** The token endpoint (contract 4.2). */
export function tokenRoutes(app: FastifyInstance, context: Context): void {
  app.post('/oauth/token', { config: { limitsFailures: true } }, async (request, reply) => {
    const [query, body] = [queryParameters(request), bodyParameters(request)];
    const tokenRequest = parseTokenRequest(query, body, request.headers.authorization);
    const { accessToken, expiresIn, scope } = await exchange(context, tokenRequest, callerOf(request));
    request.logOutcome = { client_id: tokenRequest.clientId, outcome: 'issued' };
    const token = { access_token: accessToken, token_type: 'bearer', expires_in: expiresIn };
    // RFC 6749 section 5.1: the scope, if different from the requested one.
    return sendJson(reply, 200, scope === null ? token : { ...token, scope });
  });
}
