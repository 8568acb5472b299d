import { describe, expect, it } from 'vitest';
import { Agent, formWith } from '../support/agent.ts';
import { codeOf, decide, obtainCode, obtainToken, requestOf, tokenRequestOf } from '../support/flow.ts';
import { onDatabase, spawnServer } from '../support/process.ts';
import { useServer } from '../support/server.ts';
import { basic, exchange } from '../support/tokenRequests.ts';
import { open, rawRequest, sessionOf, signedIn, signIn } from './browsers.ts';

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

describe('a secret that was sent where it does not belong', () => {
  it('is not logged: not from the URL, the path, a header, a cookie, a refused body or a wrong login', async () => {
    const code = codeOf(await decide(browser, await open(browser, shop), 'allow'));
    const fields = { ...tokenRequestOf(shop, code), password: user.password };
    const query = new URLSearchParams(fields).toString();
    const token = await obtainToken(browser, await server.createClient(), user);
    const program = new Agent(server.baseUrl);
    const stranger = new Agent(server.baseUrl);
    const { text, lines } = await loggedBy(async () => {
      await program.get(`/oauth/token?${query}`);
      await program.post(`/oauth/token?${query}`, fields);
      await program.post('/oauth/token', JSON.stringify(fields), { 'content-type': 'application/json' });
      await program.post('/oauth/token', query, { 'content-type': 'text/plain' });
      await program.post(
        '/oauth/token',
        { ...fields, grant_type: 'x' },
        basic(shop.clientId, shop.clientSecret ?? ''),
      );
      for (const separator of [';', '&', '%3F', '%26', '/%3f'])
        await program.get(`/oauth/token${separator}${query}`);
      await program.get(`/sign-in?login=${user.login}&password=${user.password}`);
      await program.get(`/oauth/authorize?${query}`);
      await program.get(`/account?access_token=${token}`, {
        authorization: `Bearer ${token}`,
        referer: `https://x/?code=${code}`,
      });
      await signIn(stranger, await open(stranger, shop), {
        ...user,
        login: user.password,
        password: 'not-the-password',
      });
      await rawRequest(server, 'GET', `/oauth/token HTTP/1.1 ${code}`).catch(() => undefined);
    });
    expect(lines.length).toBeGreaterThan(10);
    for (const secret of [
      code,
      token,
      shop.clientSecret ?? '',
      user.password,
      'not-the-password',
      sessionOf(browser) ?? '',
    ])
      expect(text).not.toContain(secret);
  });

  it('is not logged either when the database fails in the middle, nor is the row that it fails with', async () => {
    const client = await server.createClient();
    const logging = await spawnServer({ ...onDatabase(server.database.url), LOG_LEVEL: 'trace' });
    const { pool } = server.database;
    try {
      const agent = new Agent(logging.baseUrl);
      const code = await obtainCode(agent, requestOf(client), user);
      const consent = formWith(await open(agent, client, { state: 'state-of-the-shop' }), 'decision');
      const stranger = new Agent(logging.baseUrl);
      const signInPage = await open(stranger, client);
      await pool.query(`
        create function fail() returns trigger language plpgsql as $$
        begin raise exception using message = 'no', detail = format('failing row contains %s', new); end $$;
        create trigger fail before insert or update on grants for each row execute function fail();
        create trigger fail before insert on sessions for each row execute function fail()`);
      const answers = [
        await agent.post('/oauth/token', tokenRequestOf(client, code)),
        await agent.post(consent.action, { ...consent.fields, decision: 'allow' }),
        await signIn(stranger, signInPage, user),
      ];
      expect(answers.map(({ status }) => status)).toEqual([500, 500, 500]);
      await expect.poll(() => logging.output().match(/"level":"error"/g)).toHaveLength(3);
      const typed = [
        code,
        client.clientSecret ?? '',
        user.password,
        'state-of-the-shop',
        sessionOf(agent) ?? '',
      ];
      for (const secret of [...typed, 'failing row', consent.fields.decision_token ?? ''])
        expect(logging.output()).not.toContain(secret);
    } finally {
      await pool.query('drop function if exists fail cascade');
      await logging.stop();
    }
  });
});

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

  it('names the request by a reference of ours, which no header of the caller sets', async () => {
    const { lines } = await loggedBy(() =>
      browser.get('/account', {
        'x-request-id': 'mine',
        'request-id': 'mine',
        traceparent: 'mine',
        'x-correlation-id': 'mine',
      }),
    );
    expect(lines.map(({ ref }) => ref)).toEqual([expect.stringMatching(/^[0-9a-f]{10}$/)]);
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
