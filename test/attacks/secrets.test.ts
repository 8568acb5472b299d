import { describe, expect, it } from 'vitest';
import { Agent } from '../support/agent.ts';
import { codeOf, decide, tokenRequestOf } from '../support/flow.ts';
import { useServer } from '../support/server.ts';
import { exchange } from '../support/tokenRequests.ts';
import { open, rawRequest, signedIn, signIn } from './browsers.ts';

// An attacker reads the log, or writes it. The server of this file logs everything there is to log (level trace).

const server = await useServer();

const user = await server.createUser({ paymentPassword: null });
const shop = await server.createClient();
const browser = await signedIn(server, shop, user);

/** What was logged since: whole lines of JSON. */
async function loggedBy(
  work: () => Promise<unknown>,
): Promise<{ text: string; lines: Record<string, unknown>[] }> {
  const from = server.logLines.length;
  await work();
  const text = server.logLines.slice(from).join('');
  const lines = text.split('\n').filter((line) => line !== '');
  return { text, lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

describe('a line of the log', () => {
  it('is one JSON object with our names only, whatever a login, a path, a header or a parameter holds', async () => {
    const forged = '\r\n{"level":30,"ref":"forged","msg":"approved"}\r\n\u001b[2Kforged\u2028';
    const stranger = new Agent(server.baseUrl);
    const names = new Set([
      'level',
      'time',
      'pid',
      'hostname',
      'ref',
      'method',
      'path',
      'status',
      'address',
      'ms',
      'error',
      'rule',
      'rule_id',
      'msg',
    ]);
    const { text, lines } = await loggedBy(async () => {
      await signIn(stranger, await open(stranger, shop), { ...user, login: forged, password: forged });
      for (const field of ['client_id', 'redirect_uri', 'scope', 'state', 'response_type', 'instance_name'])
        await open(stranger, shop, { [field]: forged });
      await stranger.post(
        '/oauth/token',
        tokenRequestOf(shop, forged, { client_id: forged, client_secret: forged }),
      );
      await stranger.get(`/${encodeURIComponent(forged)}`);
      await stranger.get(`/account%0d%0aforged?${encodeURIComponent(forged)}`);
      await stranger.get('/account', {
        'user-agent': 'x\tforged',
        'x-request-id': 'forged',
        'request-id': 'forged',
      });
      await rawRequest(server, 'FORGED', '/account').catch(() => undefined);
    });
    expect(lines.length).toBeGreaterThan(10);
    for (const part of ['forged', '\u001b', '\u2028']) expect(text).not.toContain(part);
    for (const line of lines) expect(Object.keys(line).filter((name) => !names.has(name))).toEqual([]);
  });
});

describe('what a page or a redirect lets others see', () => {
  it('holds no token and no secret: tokens come in a body only, and no address of ours has a fragment', async () => {
    const client = await server.createClient();
    const page = await open(browser, client, { state: 's' });
    const answer = await decide(browser, page, 'allow');
    const code = codeOf(answer);
    const token = JSON.parse((await exchange(server, client, code)).body).access_token as string;
    const account = await browser.get('/account');
    for (const seen of [page, answer, account, await open(browser, client)]) {
      const text = `${seen.body}${JSON.stringify([...seen.headers])}`;
      expect(text).not.toContain(token);
      expect(text).not.toContain(client.clientSecret);
      expect(seen.location ?? '').not.toMatch(/#|token/);
      expect(seen.headers.get('cache-control')).toBe('no-store');
      expect(['no-referrer', 'same-origin']).toContain(seen.headers.get('referrer-policy'));
    }
    for (const response_type of ['token', 'id_token', 'code token', 'none'])
      expect((await open(browser, client, { response_type })).page).toBe('error');
  });
});
