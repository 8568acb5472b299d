import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../flows/common/context.ts';
import { exchange } from '../../flows/token/exchange.ts';
import { introspectForAny } from '../../flows/token/introspect.ts';
import { revokeByBearer, revokeByClient } from '../../flows/token/revoke.ts';
import { callerOf } from '../../listener/caller.ts';
import { sendJson } from '../../listener/json.ts';
import { OAuthError } from '../../rules/common/error.ts';
import {
  type Credentials,
  parseBasicCredentials,
  parseClientCredentials,
} from '../../rules/request/clientCredentials.ts';
import { parseTokenRequest } from '../../rules/request/tokenRequest.ts';
import { bodyParameters, queryParameters } from '../request/parameters.ts';

const LIMITED = { config: { limitsFailures: true } };

/** The endpoints for programs: token, revocation, introspection, metadata. */
export function tokenRoutes(app: FastifyInstance, context: Context): void {
  // The token endpoint (contract 4.2).
  app.post('/oauth/token', LIMITED, async (request, reply) => {
    const [query, body] = [queryParameters(request), bodyParameters(request)];
    const tokenRequest = parseTokenRequest(query, body, request.headers.authorization);
    const { accessToken, expiresIn, grantId, scope } = await exchange(
      context,
      tokenRequest,
      callerOf(request),
    );
    request.logOutcome = { client_id: tokenRequest.clientId, outcome: 'issued' };
    const token = {
      access_token: accessToken,
      token_type: 'bearer',
      expires_in: expiresIn,
      grant_id: grantId,
    };
    // RFC 6749 section 5.1: the scope, if different from the requested one.
    return sendJson(reply, 200, scope === null ? token : { ...token, scope });
  });

  // 200 even for an invalid token (RFC 7009 section 2.2); `token_type_hint` is ignored, as there is one type.
  app.post('/oauth/revoke', LIMITED, async (request, reply) => {
    const form = bodyParameters(request);
    const credentials = parseClientCredentials(form, request.headers.authorization);
    await revokeByClient(context, credentials, form.require('token'), callerOf(request));
    return sendJson(reply, 200, {});
  });

  // The call that the payment SDKs make.
  app.post('/api/revoke', async (request, reply) => {
    const token = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
    if (token === undefined)
      throw new OAuthError('missing_bearer', 'Send the access token in the Authorization header, as Bearer.');
    await revokeByBearer(context, token, callerOf(request));
    return sendJson(reply, 200, {});
  });

  // For the resource servers of the payment API, and for applications about their own tokens (RFC 7662).
  app.post('/oauth/introspect', async (request, reply) => {
    const form = bodyParameters(request);
    const credentials = basicOf(request);
    const answer = credentials && (await introspectForAny(context, credentials, form.get('token') ?? ''));
    if (answer === null || 'known' in answer) return refuseCaller(request, reply, credentials, answer?.known);
    form.require('token'); // checked last: it reveals nothing to other callers
    return sendJson(reply, 200, answer);
  });

  const metadata = metadataOf(context);
  app.get('/.well-known/oauth-authorization-server', async (_request, reply) =>
    sendJson(reply, 200, metadata),
  );
}

/** Of a resource server; null if unreadable, which counts as wrong. */
export function basicOf({ headers }: FastifyRequest) {
  try {
    return parseBasicCredentials(headers.authorization);
  } catch (error) {
    if (error instanceof OAuthError) return null;
    throw error;
  }
}

/** 401 for a caller that is not an active resource server. @param known whether it is registered */
export function refuseCaller(
  request: FastifyRequest,
  reply: FastifyReply,
  credentials: Credentials | null,
  known: boolean | null = null,
): FastifyReply {
  const resource = credentials && known ? { resource_id: credentials.id } : {};
  const error = 'invalid_client';
  const rule = 'unknown or blocked resource, or wrong resource secret';
  request.logFields = { error, rule, rule_id: 'resource_not_authenticated', ...resource };
  reply.header('www-authenticate', 'Basic realm="introspection"');
  return sendJson(reply, 401, { error, error_description: 'Authenticate as a resource server.' });
}

/** The metadata of this server (RFC 8414). */
function metadataOf({ baseUrl, catalogue, languages }: Context) {
  const ofClients = ['client_secret_post', 'client_secret_basic', 'none'];
  return {
    issuer: baseUrl,
    authorization_endpoint: `${baseUrl}/oauth/authorize`,
    token_endpoint: `${baseUrl}/oauth/token`,
    introspection_endpoint: `${baseUrl}/oauth/introspect`,
    revocation_endpoint: `${baseUrl}/oauth/revoke`,
    ui_locales_supported: languages.all.map(({ tag }) => tag),
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code'],
    // Rights of one word: the others name something, and can't be listed.
    scopes_supported: [...catalogue].filter(([, { names }]) => names === undefined).map(([name]) => name),
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ofClients,
    revocation_endpoint_auth_methods_supported: ofClients,
    introspection_endpoint_auth_methods_supported: ['client_secret_basic'],
  };
}
