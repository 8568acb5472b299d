import { describe, expect, it } from 'vitest';
import { Agent } from '../../support/http/agent.ts';
import { useServer } from '../../support/server.ts';

const PATHS = ['/oauth/account', '/oauth/authorize', '/oauth/token', '/nothing', '/health/live', '/metrics'];

const plain = await useServer();

it.each([...PATHS, '/%zz'])(
  'every answer has the reference of its log line, and no HSTS without https: %s',
  async (path) => {
    const answer = await new Agent(plain.baseUrl).get(path);
    const reference = answer.headers.get('x-request-id');
    expect(reference).toMatch(/^[0-9a-f]{10}$/);
    expect(answer.headers.get('strict-transport-security')).toBeNull();
    if (answer.page === 'error') expect(answer.text).toContain(reference);
    const lines = () => plain.logLines.filter((line) => line.includes(`"ref":"${reference}"`)).length;
    await expect.poll(lines).toBe(1); // written once the answer is sent
  },
);

describe('the server over https', async () => {
  const server = await useServer({ baseUrl: 'https://assent.example', trustProxy: 1 });

  it.each(PATHS)('sends HSTS: %s', async (path) => {
    const answer = await new Agent(server.baseUrl).get(path);
    expect(answer.headers.get('strict-transport-security')).toMatch(/^max-age=\d{8,}/);
  });

  it('restricts its cookies to this host and https, and ignores a session cookie without __Host- [headers-1]', async () => {
    const { login, password } = await server.createUser();
    const forged = { 'x-forwarded-proto': 'http', forwarded: 'proto=http', 'x-forwarded-ssl': 'off' };
    const agent = new Agent(server.baseUrl, forged);
    const page = await agent.get('/oauth/account');
    const answer = await agent.submit(page, 'login', { login, password });
    const names = [];
    for (const line of [page, answer].flatMap(({ headers }) => headers.getSetCookie())) {
      expect(line).toMatch(/^[^;]+; (Max-Age=\d+; )?Path=\/; HttpOnly; Secure; SameSite=Lax$/);
      names.push(line.split('=', 1)[0]);
    }
    const expected = ['visit', 'session', 'device', 'seen'];
    expect(names).toEqual(expected.map((name) => `__Host-assent_${name}`));
    expect((await agent.get('/oauth/account')).page).toBe('account');
    const other = new Agent(server.baseUrl);
    other.cookies.set('assent_session', agent.cookies.get('__Host-assent_session') ?? '');
    expect((await other.get('/oauth/account')).page).toBe('sign-in');
  });
});
