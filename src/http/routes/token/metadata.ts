import type { FastifyInstance } from 'fastify';
import type { Context } from '../../../flows/common/context.ts';
import { LANGUAGES } from '../../../languages/languages.ts';
import { sendJson } from '../../request/json.ts';

/** RFC 8414. */
export function metadataRoutes(app: FastifyInstance, { baseUrl, catalogue }: Context): void {
  const ofClients = ['client_secret_post', 'client_secret_basic', 'none'];
  const metadata = {
    issuer: baseUrl,
    authorization_endpoint: `${baseUrl}/oauth/authorize`,
    token_endpoint: `${baseUrl}/oauth/token`,
    introspection_endpoint: `${baseUrl}/oauth/introspect`,
    revocation_endpoint: `${baseUrl}/oauth/revoke`,
    ui_locales_supported: LANGUAGES,
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
  app.get('/.well-known/oauth-authorization-server', async (_request, reply) =>
    sendJson(reply, 200, metadata),
  );
}
