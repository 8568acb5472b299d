import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { APIRequestContext, Browser, BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { launchChromium } from '../support/chromium.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { onDatabase, runAssent, type ServerProcess, spawnServer } from '../support/process.ts';
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

describe.each(PROXIES)('$name', (kind) => {
  const { version } = kind;
  const found = version ? `version ${version}` : 'not installed: skipped';

  describe.runIf(version)(`in front of two replicas, ${found}`, () => {
    let database: TestDatabase;
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
    const create = async (args: string[], stdin = '') =>
      JSON.parse((await runAssent([...args, '--json'], variables, stdin)).stdout) as Record<string, string>;

    beforeAll(async () => {
      database = await createDatabase();
      ports = [await freePort(), await freePort()];
      const port = await freePort();
      proxy = await startProxy(kind, port, ports);
      const address = { BASE_URL: proxy.baseUrl, TRUST_PROXY: '127.0.0.1' };
      variables = { ...onDatabase(database.url), ...address };
      [replicas, browser] = await Promise.all([Promise.all(ports.map(start)), launchChromium()]);
      application = createServer((_request, response) => response.end('thank you'));
      await once(application.listen(0, '127.0.0.1'), 'listening');
      const redirectUri = `http://127.0.0.1:${(application.address() as AddressInfo).port}/callback`;
      client = await create([
        ...['client', 'create', '--name', 'Shop', '--redirect-uri', redirectUri, '--verified'],
      ]);
      await create(['user', 'create', LOGIN, '--name', 'Anna', '--password-stdin'], `${PASSWORD}\n`);
      context = await browser.newContext({
        ignoreHTTPSErrors: true,
        baseURL: proxy.baseUrl,
        extraHTTPHeaders: { 'x-forwarded-for': CLAIMED },
      });
      request = context.request;
      await untilServing();
    });

    afterAll(async () => {
      for (const { name, value } of (await context?.cookies()) ?? []) noteCookie(`${name}=${value}`);
      await browser?.close();
      application?.close();
      await proxy?.stop();
      await Promise.all(replicas?.map((replica) => replica.stop()) ?? []);
      await database?.drop();
    });

    const authorization = (fields: Record<string, string> = {}) => ({
      response_type: 'code',
      client_id: client.client_id ?? '',
      redirect_uri: client.redirect_uri ?? '',
      scope: 'account-info operation-history',
      ...fields,
    });

    it('carries a whole authorization, and tells whose address it came from', async () => {
      const state = 's'.repeat(5_000); // with the address nearly as long as a request may be
      const page = await context.newPage();
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

      const exchanged = await request.post('/oauth/token', {
        form: {
          grant_type: 'authorization_code',
          code,
          client_id: client.client_id ?? '',
          redirect_uri: client.redirect_uri ?? '',
          client_secret: client.client_secret ?? '',
        },
      });
      expect(exchanged.status()).toBe(200);
      const { access_token } = (await exchanged.json()) as { access_token: string };
      noteTyped('token', access_token);
      expect(access_token).toMatch(/^assent_at_/);

      const trail = await runAssent(['audit', '--login', LOGIN, '--json'], variables);
      const events = JSON.parse(trail.stdout) as { outcome: string; address: string | null }[];
      const addresses = events.filter(({ outcome }) => outcome !== 'user_created');
      expect(addresses.map(({ outcome }) => outcome)).toEqual(['signed_in', 'approved', 'exchanged']);
      expect(new Set(addresses.map(({ address }) => address))).toEqual(new Set(['127.0.0.1']));
    });

    it('gives nobody outside the metrics and the state of a replica', async () => {
      for (const path of ['/metrics', '/health/ready', '/health/live']) {
        expect({ path, status: (await request.get(path)).status() }).toEqual({ path, status: 404 });
      }
    });

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
  });
});
