import type { FastifyInstance } from 'fastify';
import type { Context } from '../../flows/context.ts';
import { exchange } from '../../flows/exchange.ts';
import { parseTokenRequest } from '../../rules/tokenRequest.ts';
import { bodyParameters, queryParameters } from '../parameters.ts';
import { callerOf } from '../server/caller.ts';
import { sendJson } from '../server/json.ts';

/** The token endpoint (contract 4.2). */
export function tokenRoutes(app: FastifyInstance, context: Context): void {
  app.post('/oauth/token', { config: { limitsFailures: true } }, async (request, reply) => {
    const [query, body] = [queryParameters(request), bodyParameters(request)];
    const tokenRequest = parseTokenRequest(query, body, request.headers.authorization);
    const { accessToken, expiresIn } = await exchange(context, tokenRequest, callerOf(request));
    return sendJson(reply, 200, { access_token: accessToken, token_type: 'bearer', expires_in: expiresIn });
  });
}
