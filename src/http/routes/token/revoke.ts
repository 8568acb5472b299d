import type { FastifyInstance } from 'fastify';
import type { Context } from '../../../flows/common/context.ts';
import { revokeByBearer, revokeByClient } from '../../../flows/token/revoke.ts';
import { OAuthError } from '../../../rules/common/error.ts';
import { parseClientCredentials } from '../../../rules/request/clientCredentials.ts';
import { callerOf } from '../../request/caller.ts';
import { sendJson } from '../../request/json.ts';
import { bodyParameters } from '../../request/parameters.ts';

/** The revocation endpoint (RFC 7009), and the call that the payment SDKs make. */
export function revokeRoutes(app: FastifyInstance, context: Context): void {
  // 200 even for an invalid token (RFC 7009 section 2.2); `token_type_hint` is ignored, as there is one type.
  app.post('/oauth/revoke', { config: { limitsFailures: true } }, async (request, reply) => {
    const form = bodyParameters(request);
    const credentials = parseClientCredentials(form, request.headers.authorization);
    await revokeByClient(context, credentials, form.require('token'), callerOf(request));
    return sendJson(reply, 200, {});
  });

  app.post('/api/revoke', async (request, reply) => {
    const token = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
    if (token === undefined)
      throw new OAuthError('missing_bearer', 'Send the access token in the Authorization header, as Bearer.');
    await revokeByBearer(context, token, callerOf(request));
    return sendJson(reply, 200, {});
  });
}
