import { expect, it } from 'vitest';
import { signIn } from '../../support/flow.ts';
import { Agent, type Answer, formWith } from '../../support/http/agent.ts';
import { useServer } from '../../support/server.ts';

// Pages that are the same for all are rendered once: what is a caller's own on them must not be.

const server = await useServer();
const LANGUAGES = ['en', 'ru', 'en', 'ru'];

const wayBack = (answer: Answer) =>
  Buffer.from(formWith(answer, 'language').fields.back ?? '', 'base64url').toString();

it.each(['/nothing', '/nothing?a=b', '/account/%D0%B0', '/oauth/authorize', '/oauth/authorize?client_id=x'])(
  'an error page has the reference and the back link of its own request: %s',
  async (path) => {
    const seen = new Map<string, string>();
    for (const language of LANGUAGES) {
      const answer = await new Agent(server.baseUrl).get(path, { 'accept-language': language });
      const reference = answer.headers.get('x-request-id') ?? '';
      expect(answer.body.split(reference)).toHaveLength(2);
      expect([wayBack(answer), answer.headers.get('content-language')]).toEqual([path, language]);
      const others = answer.body.replace(reference, '');
      expect(seen.get(language) ?? others).toBe(others);
      seen.set(language, others);
    }
    expect(seen.get('en')).not.toBe(seen.get('ru'));
  },
);

it('a sign-in page has its own token and back link', async () => {
  const agents = LANGUAGES.map(() => new Agent(server.baseUrl));
  const pages = await Promise.all(agents.map((agent) => agent.get('/account?x')));
  const tokens = pages.map((page) => formWith(page, 'login').fields.form_token ?? '');
  expect(new Set(tokens).size).toBe(tokens.length);
  for (const [index, page] of pages.entries()) {
    expect(page.body.split(tokens[index] ?? '')).toHaveLength(2);
    expect(wayBack(page)).toBe('/account?x');
  }
});

it('a sign-in page shows earlier input only to its own browser', async () => {
  const agent = new Agent(server.baseUrl);
  await signIn(agent, 'mine', 'x');
  expect((await agent.get('/account')).body).toContain('value="mine"');
  expect((await new Agent(server.baseUrl).get('/account')).body).not.toContain('mine');
});
