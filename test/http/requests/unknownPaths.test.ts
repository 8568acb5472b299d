import { expect, it } from 'vitest';
import { Agent } from '../../support/http/agent.ts';
import { useServer } from '../../support/server.ts';

const server = await useServer();

/** At and below these paths there are only endpoints of programs. */
const OF_PROGRAMS = ['/oauth/token/x', '/oauth/introspect/x/y', '/api', '/api/x/y/z', '/health'];

const OF_PEOPLE = [
  ...['/nothing', '/oauth', '/oauth/authorize/x', '/oauth/account/x', '//api/revoke', '/API/revoke'],
  ...['/x/api/revoke', '/api;x', '/health%2Flive', '/%zz', '/..%2f..%2fetc/passwd'],
];

it.each([
  ...OF_PROGRAMS.map((path) => [path, 'application/json']),
  ...OF_PEOPLE.map((path) => [path, 'text/html; charset=utf-8']),
])('an unknown path gets 404: %s as %s [unknownPaths-1]', async (path, type) => {
  const answer = await new Agent(server.baseUrl).get(server.baseUrl + path);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([404, type]);
});

it.each(['/.well-known/openid-configuration', '/userinfo', '/oauth/userinfo'])(
  '%s answers that Assent is not an OpenID provider, and names the OAuth metadata',
  async (path) => {
    for (const method of ['GET', 'POST']) {
      const answer = await new Agent(server.baseUrl).send(path, { method, headers: {} });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'application/json']);
      expect(JSON.parse(answer.body)).toEqual({
        error: 'not_found',
        error_description: expect.stringMatching(/Not an OpenID provider: .+\/oauth-authorization-server/),
      });
    }
  },
);
