import { describe, expect, it } from 'vitest';
import { linkTo, requestOf, signIn } from '../../support/flow.ts';
import { Agent } from '../../support/http/agent.ts';
import { useServer } from '../../support/server.ts';

const PATHS = [
  '/account',
  '/oauth/authorize',
  '/oauth/token',
  '/nothing',
  '/health/live',
  '/metrics',
  '/%zz',
];

describe('every answer', async () => {
  const server = await useServer();

  it.each(PATHS)('has the reference of its log line, and no HSTS without https: %s', async (path) => {
    const answer = await new Agent(server.baseUrl).get(path);
    const reference = answer.headers.get('x-request-id');
    expect(reference).toMatch(/^[0-9a-f]{10}$/);
    expect(answer.headers.get('strict-transport-security')).toBeNull();
    if (answer.page === 'error') expect(answer.text).toContain(reference);
    const lines = () => server.logLines.filter((line) => line.includes(`"ref":"${reference}"`)).length;
    await expect.poll(lines).toBe(1); // written once the answer is sent
  });
});

describe('over https', async () => {
  const server = await useServer({ baseUrl: 'https://assent.example', trustProxy: 1 });

  it.each(PATHS.filter((path) => path !== '/%zz'))('sends HSTS: %s', async (path) => {
    const answer = await new Agent(server.baseUrl).get(path);
    expect(answer.headers.get('strict-transport-security')).toMatch(/^max-age=\d{8,}/);
  });

  it('restricts its cookies to this host and to https', async () => {
    const user = await server.createUser();
    const client = await server.createClient();
    const plain = { 'x-forwarded-proto': 'http', forwarded: 'proto=http', 'x-forwarded-ssl': 'off' };
    const agent = new Agent(server.baseUrl, plain);
    const page = await agent.get(linkTo(requestOf(client)));
    const lines = [
      ...page.headers.getSetCookie(),
      ...(await signIn(agent, user.login, user.password)).headers.getSetCookie(),
    ];
    expect(lines.map((line) => line.split('=', 1)[0])).toEqual([
      '__Host-assent_visit',
      '__Host-assent_session',
      '__Host-assent_device',
      '__Host-assent_seen',
    ]);
    for (const line of lines) {
      expect(line).toMatch(/; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
      expect(line).not.toMatch(/Domain/i);
    }
    expect((await agent.get('/account')).page).toBe('account');
  });

  it('ignores a cookie without the prefix, which another host may have set', async () => {
    const user = await server.createUser();
    const agent = new Agent(server.baseUrl);
    await signIn(agent, user.login, user.password);
    const value = agent.cookies.get('__Host-assent_session') ?? '';
    const other = new Agent(server.baseUrl);
    other.cookies.set('assent_session', value);
    expect((await other.get('/account')).page).toBe('sign-in');
  });
});
