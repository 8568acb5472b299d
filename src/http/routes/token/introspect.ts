import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../../flows/common/context.ts';
import { introspect } from '../../../flows/token/introspect.ts';
import { OAuthError } from '../../../rules/common/error.ts';
import { type Credentials, parseBasicCredentials } from '../../../rules/request/clientCredentials.ts';
import { sendJson } from '../../request/json.ts';
import { bodyParameters } from '../../request/parameters.ts';

/** Introspection, for the resource servers of the payment API (RFC 7662). */
export function introspectRoutes(app: FastifyInstance, context: Context): void {
  app.post('/oauth/introspect', async (request, reply) => {
    const form = bodyParameters(request);
    const credentials = basicOf(request);
    const answer = credentials && (await introspect(context, credentials, form.get('token') ?? ''));
    if (answer === null) return askForCredentials(reply);
    form.require('token'); // checked last: it reveals nothing to other callers
    return sendJson(reply, 200, answer);
  });
}

function askForCredentials(reply: FastifyReply): FastifyReply {
  const error = 'invalid_client';
  const rule = 'unknown or blocked resource, or wrong resource secret';
  reply.request.logFields = { error, rule, rule_id: 'resource_not_authenticated' };
  reply.header('www-authenticate', 'Basic realm="introspection"');
  return sendJson(reply, 401, { error, error_description: 'Authenticate as a resource server.' });
}

function basicOf(request: FastifyRequest): Credentials | null {
  try {
    return parseBasicCredentials(request.headers.authorization);
  } catch (error) {
    if (error instanceof OAuthError) return null; // unreadable counts as wrong: 401 either way
    throw error;
  }
}
