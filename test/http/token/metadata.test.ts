import { expect, it } from 'vitest';
import { Agent } from '../../support/http/agent.ts';
import { useServer } from '../../support/server.ts';

const server = await useServer();

it('RFC 8414: publishes true metadata for client libraries [metadata-1]', async () => {
  const answer = await new Agent(server.baseUrl).get('/.well-known/oauth-authorization-server');
  expect(answer.headers.get('content-type')).toBe('application/json');
  expect(JSON.parse(answer.body)).toEqual({
    issuer: server.baseUrl,
    authorization_endpoint: `${server.baseUrl}/oauth/authorize`,
    token_endpoint: `${server.baseUrl}/oauth/token`,
    introspection_endpoint: `${server.baseUrl}/oauth/introspect`,
    revocation_endpoint: `${server.baseUrl}/oauth/revoke`,
    ui_locales_supported: ['en', 'ru'],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code'],
    scopes_supported: [
      'account-info',
      'operation-history',
      'operation-details',
      'incoming-transfers',
      'payment-shop',
      'payment-p2p',
    ],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic', 'none'],
    revocation_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic', 'none'],
    introspection_endpoint_auth_methods_supported: ['client_secret_basic'],
  });
});
