import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { request as requestRaw } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { APIRequestContext, Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { launchChromium } from '../support/chromium.ts';
import { commandsOn } from '../support/commands.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { type Line, openLine } from '../support/line.ts';
import { readSeries } from '../support/metrics.ts';
import { onDatabase, type ServerProcess, spawnServer } from '../support/process.ts';
import { PROXIES, type RunningProxy, startProxy } from '../support/proxies.ts';
import { freePort } from '../support/server.ts';
import { noteCookie, noteTyped } from '../support/traffic.ts';

// The configurations of deploy/, in real proxies with TLS, in front of two replicas.

const PASSWORD = 'a quiet password 7';
const LOGIN = 'anna';
/** Of a network that documentation uses: whoever believes it believes a caller. */
const CLAIMED = '203.0.113.9';
/** Proxies look after their servers once a second. */
const WAITING = { timeout: 20_000, interval: 50 };

/** Asks for a path exactly as it is written, which no browser and no `fetch` does. */
async function statusOf(baseUrl: string, path: string): Promise<number> {
  const asked = requestRaw(baseUrl, { path, agent: false, rejectUnauthorized: false }).end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode ?? 0;
}

/** How often a replica was asked whether it is ready, and said no. */
async function notReady(port: number): Promise<number> {
  const answer = await fetch(`http://localhost:${port}/metrics`);
  const series = [...readSeries(await answer.text())];
  return series.find(([name]) => name.includes('route="/health/ready",status="503"'))?.[1] ?? 0;
}

describe.each(PROXIES)('$name', (kind) => {
  const { version } = kind;
  const found = version ? `version ${version}` : 'not installed: skipped';

  describe.runIf(version)(`in front of two replicas, ${found}`, () => {
    let database: TestDatabase;
    let line: Line;
    let replicas: ServerProcess[];
    let proxy: RunningProxy;
    let application: Server;
    let client: Record<string, string>;
    let browser: Browser;
    let context: BrowserContext;
    let request: APIRequestContext;
    let variables: Record<string, string>;
    let ports: [number, number];

    const start = (port: number) => spawnServer({ ...variables, PORT: String(port) });
    const untilServing = () =>
      vi.waitFor(async () => expect((await request.get('/account')).status()).toBe(200), WAITING);
    const newContext = () =>
      browser.newContext({
        ignoreHTTPSErrors: true,
        baseURL: proxy.baseUrl,
        extraHTTPHeaders: { 'x-forwarded-for': CLAIMED },
      });

    beforeAll(async () => {
      database = await createDatabase();
      line = await openLine();
      ports = [await freePort(), await freePort()];
      const port = await freePort();
      proxy = await startProxy(kind, port, ports);
      const address = { BASE_URL: proxy.baseUrl, TRUST_PROXY: '127.0.0.1' };
      variables = { ...onDatabase(line.url(database)), ...address };
      [replicas, browser] = await Promise.all([Promise.all(ports.map(start)), launchChromium()]);
      application = createServer((_request, response) => response.end('thank you'));
      await once(application.listen(0, '127.0.0.1'), 'listening');
      const redirectUri = `http://127.0.0.1:${(application.address() as AddressInfo).port}/callback`;
      const { json } = commandsOn(variables);
      client = await json(`client create --name Shop --redirect-uri ${redirectUri} --verified`);
      await json(`user create ${LOGIN} --name Anna --password-stdin`, `${PASSWORD}\n`);
      context = await newContext();
      request = context.request;
      await untilServing();
    });

    afterAll(async () => {
      for (const { name, value } of (await context?.cookies()) ?? []) noteCookie(`${name}=${value}`);
      await browser?.close();
      application?.close();
      await proxy?.stop();
      await Promise.all(replicas?.map((replica) => replica.stop()) ?? []);
      line?.close();
      await database?.drop();
    });

    const authorization = (fields: Record<string, string> = {}) => ({
      response_type: 'code',
      client_id: client.client_id ?? '',
      redirect_uri: client.redirect_uri ?? '',
      scope: 'account-info operation-history',
      ...fields,
    });

    const exchange = (code: string) => {
      const { client_id = '', client_secret = '', redirect_uri = '' } = client;
      const form = { grant_type: 'authorization_code', code, client_id, client_secret, redirect_uri };
      return request.post('/oauth/token', { form });
    };

    /** Signs in and allows it. @returns what the application gets */
    const authorize = async (page: Page, state: string) => {
      const asked = new URLSearchParams(authorization({ state }));
      const first = await page.goto(`/oauth/authorize?${asked}`);
      expect(first?.headers()['strict-transport-security']).toMatch(/max-age/);
      await page.getByLabel('Login').fill(LOGIN);
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.locator('main[data-page="consent"]').waitFor();
      await page.getByRole('button', { name: 'Allow' }).click();
      await page.waitForURL(/\/callback\?/);
      const answer = new URL(page.url()).searchParams;
      expect(answer.get('state')).toBe(state);
      const code = answer.get('code') ?? '';
      noteTyped('code', code);
      return code;
    };

    it('carries a whole authorization, and tells whose address it came from', async () => {
      const state = 's'.repeat(5_000); // with the address nearly as long as a request may be
      const code = await authorize(await context.newPage(), state);
      const exchanged = await exchange(code);
      expect(exchanged.status()).toBe(200);
      const { access_token } = (await exchanged.json()) as { access_token: string };
      noteTyped('token', access_token);
      expect(access_token).toMatch(/^assent_at_/);

      const events = await commandsOn(variables).json<{ outcome: string; address: string | null }[]>(
        `audit --login ${LOGIN}`,
      );
      const addresses = events.filter(({ outcome }) => outcome !== 'user_created');
      expect(addresses.map(({ outcome }) => outcome)).toEqual(['signed_in', 'approved', 'exchanged']);
      expect(new Set(addresses.map(({ address }) => address))).toEqual(new Set(['127.0.0.1']));
    });

    it('carries the forms of a request that is encoded twice in them', async () => {
      const other = await newContext();
      await authorize(await other.newPage(), 'я'.repeat(900)); // 5,400 characters of the address, 9,000 of each form
      await other.close();
    });

    it.each([
      ...['/metrics', '/%6Detrics', '/metric%73', '/%6d%65%74%72%69%63%73', '/metrics?x', '/metrics%23'],
      ...['/METRICS', '/metrics/', '//metrics', '/%2Fmetrics', '/./metrics', '/x/../metrics', '/%256Detrics'],
      ...['/health/ready', '/health/live', '/%68ealth/ready', '/health/liv%65', '/health%2Fready'],
      ...['//health/ready', '/health/./ready'],
    ])('gives nobody outside the metrics and the state of a replica: %s', async (path) => {
      expect(await statusOf(proxy.baseUrl, path)).toBe(404);
    });

    it.each(['/metrics#x', '*metrics', '*health/ready', '/%6Detrics%zz'])(
      'nor where it is no path at all: %s',
      async (path) => {
        expect([400, 404]).toContain(await statusOf(proxy.baseUrl, path));
      },
    );

    it.each([
      [
        'a query that is too long',
        () =>
          request.get(
            `/oauth/authorize?${new URLSearchParams(authorization({ state: 's'.repeat(15_000) }))}`,
          ),
      ],
      [
        'many cookies',
        () =>
          request.get('/account', { headers: { cookie: `a=${'a'.repeat(15_000)}; b=${'b'.repeat(9_000)}` } }),
      ],
    ])('lets Assent answer %s', async (_what, send) => {
      expect((await send()).headers()['x-request-id']).toMatch(/^[0-9a-f]{10}$/);
    });

    it('leads to the other replica while one is gone, and to both when it is back', async () => {
      await replicas[0]?.stop('SIGKILL');
      const statuses = new Set<number>();
      for (let asked = 0; asked < 40; asked += 1) statuses.add((await request.get('/account')).status());
      expect([...statuses]).toEqual([200]);

      replicas[0] = await start(ports[0]);
      await replicas[1]?.stop('SIGKILL');
      await untilServing();
      replicas[1] = await start(ports[1]);
    });

    it.each(['/oauth/token', '/consent', '/account'])(
      'leaves no replica out because of a caller whose forms are far too long: %s',
      async (path) => {
        for (let turn = 0; turn < 12; turn += 1)
          await request.post(path, { form: { a: 'a'.repeat(900_000) } }).catch(() => undefined);
        expect((await request.get('/account')).status()).toBe(200);
      },
    );

    it('leads to Assent’s own calm answers while the database is away', async () => {
      const before = await Promise.all(ports.map(notReady));
      line.close();
      // When a second check comes, the proxy knows what the first was told.
      const knows = async () => {
        const after = await Promise.all(ports.map(notReady));
        expect(Math.min(...after.map((count, index) => count - (before[index] ?? 0)))).toBeGreaterThan(1);
      };
      if (kind.checks) await vi.waitFor(knows, WAITING);

      const page = await request.get(`/oauth/authorize?${new URLSearchParams(authorization())}`);
      expect([page.status(), page.headers()['retry-after']]).toEqual([503, '5']);
      expect(await page.text()).toContain('data-page="error"');
      const refused = await exchange('x');
      expect([refused.status(), refused.headers()['retry-after']]).toEqual([503, '5']);
      expect(await refused.json()).toMatchObject({ error: 'temporarily_unavailable' });
    });
  });
});
