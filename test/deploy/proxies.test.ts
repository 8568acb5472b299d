import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { linkTo, requestOf, tokenRequestOf } from '../support/flow.ts';
import { type Line, openLine } from '../support/http/line.ts';
import { readSeries } from '../support/metrics.ts';
import { createDatabase, type TestDatabase } from '../support/postgres/database.ts';
import { commandsOn } from '../support/process/commands.ts';
import { onDatabase, type ServerProcess, spawnServer } from '../support/process/process.ts';
import { listen } from '../support/process/program.ts';
import { expectPage, signIn, useBrowser } from '../support/programs/browsing.ts';
import { describeProxies, type RunningProxy, startProxy } from '../support/programs/proxies.ts';
import { createClient, createUser } from '../support/registrations.ts';
import { freePort, type TestClient, type TestUser } from '../support/server.ts';
import { noteTyped } from '../support/traffic.ts';

// Real proxies with the configurations of deploy/ and TLS, in front of two replicas.

/** A false address, from a network for documentation: the proxy must replace it. */
const CLAIMED = { 'x-forwarded-for': '203.0.113.9' };
/** Proxies check their servers once a second. */
const WAITING = { timeout: 20_000, interval: 50 };

/** The number of readiness checks that a replica answered with 503. */
async function notReady(port: number): Promise<number> {
  const answer = await fetch(`http://localhost:${port}/metrics`);
  const series = [...readSeries(await answer.text())];
  return series.find(([name]) => name.includes('route="/health/ready",status="503"'))?.[1] ?? 0;
}

describeProxies('in front of two replicas', (kind) => {
  const browsing = useBrowser({ ignoreHTTPSErrors: true, extraHTTPHeaders: CLAIMED });
  let database: TestDatabase;
  let line: Line;
  let replicas: ServerProcess[];
  let proxy: RunningProxy;
  let application: Server;
  let client: TestClient;
  let user: TestUser;
  let variables: Record<string, string>;
  let ports: [number, number];

  const start = (port: number) => spawnServer({ ...variables, PORT: String(port) });

  /** Requests a path unchanged, unlike a browser and `fetch`. */
  const ask = async (path: string, fields?: Record<string, string>, headers = {}) => {
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const asked = request(proxy.baseUrl, {
      ...{ path, agent: false, rejectUnauthorized: false, method: fields ? 'POST' : 'GET' },
      headers: { ...CLAIMED, ...(fields ? type : {}), ...headers },
    });
    const [answer] = await once(asked.end(`${new URLSearchParams(fields)}`), 'response');
    const { statusCode: status, headers: received } = answer as IncomingMessage;
    return { status, headers: received, body: await text(answer) };
  };
  const untilServing = () =>
    vi.waitFor(async () => expect((await ask('/oauth/account')).status).toBe(200), WAITING);

  beforeAll(async () => {
    database = await createDatabase();
    line = await openLine();
    ports = [await freePort(), await freePort()];
    proxy = await startProxy(kind, await freePort(), ports);
    const address = { BASE_URL: proxy.baseUrl, TRUST_PROXY: '127.0.0.1' };
    variables = { ...onDatabase(line.url(database)), ...address };
    replicas = await Promise.all(ports.map(start));
    application = createServer((_request, response) => response.end('thank you'));
    const redirectUri = `http://127.0.0.1:${await listen(application)}/callback`;
    client = await createClient(database.pool, { redirectUri });
    user = await createUser(database.pool, { paymentPassword: null });
    await untilServing();
  });

  afterAll(async () => {
    application?.close();
    await proxy?.stop();
    await Promise.all(replicas?.map((replica) => replica.stop()) ?? []);
    line?.close();
    await database?.drop();
  });

  const authorization = (fields: Record<string, string> = {}) => linkTo(requestOf(client, fields));

  /** Signs in and allows the request in a browser. @returns the code that the application gets */
  const authorize = async (state: string) => {
    const page = await browsing.open({ baseURL: proxy.baseUrl });
    const first = await page.goto(authorization({ state }));
    expect(first?.headers()['strict-transport-security']).toMatch(/max-age/);
    await signIn(page, user);
    await expectPage(page, 'consent');
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.waitForURL(/\/callback\?/);
    const answer = new URL(page.url()).searchParams;
    expect(answer.get('state')).toBe(state);
    const code = answer.get('code') ?? '';
    noteTyped('code', code);
    return code;
  };

  it('proxies a whole authorization, and forwards the caller’s IP address', async () => {
    const code = await authorize('s'.repeat(5_000)); // with the address nearly as long as a request may be
    const { access_token } = JSON.parse((await ask('/oauth/token', tokenRequestOf(client, code))).body);
    noteTyped('token', access_token);
    const events = await commandsOn(variables).json<object[]>(`audit --login ${user.login}`);
    const ofUser = ['signed_in', 'approved', 'exchanged'].map((outcome) => ({
      outcome,
      address: '127.0.0.1',
    }));
    expect(events).toMatchObject([{ outcome: 'user_created', address: null }, ...ofUser]);
  });

  it('proxies forms that contain a long authorization request in double encoding', async () => {
    await authorize('я'.repeat(900)); // 5,400 characters of the address, 9,000 of each form
  });

  it.each([
    ...['/metrics', '/%6Detrics', '/metric%73', '/%6d%65%74%72%69%63%73', '/metrics?x', '/metrics%23'],
    ...['/METRICS', '/metrics/', '//metrics', '/%2Fmetrics', '/./metrics', '/x/../metrics', '/%256Detrics'],
    ...['/health/ready', '/health/live', '/%68ealth/ready', '/health/liv%65', '/health%2Fready'],
    ...['//health/ready', '/health/./ready'],
  ])('hides the metrics and the health checks of a replica: %s', async (path) => {
    expect((await ask(path)).status).toBe(404);
  });

  it.each(['/metrics#x', '*metrics', '*health/ready', '/%6Detrics%zz'])(
    'hides them from a request target that is not a path: %s',
    async (path) => {
      expect([400, 404]).toContain((await ask(path)).status);
    },
  );

  it('forwards overlong queries and large cookies, which Assent answers', async () => {
    const cookie = `a=${'a'.repeat(15_000)}; b=${'b'.repeat(9_000)}`;
    for (const answer of [
      await ask(authorization({ state: 's'.repeat(15_000) })),
      await ask('/oauth/account', undefined, { cookie }),
    ])
      expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f]{10}$/);
  });

  it('uses the other replica while one is down, and both afterwards', async () => {
    await replicas[0]?.stop('SIGKILL');
    for (let asked = 0; asked < 40; asked += 1) expect((await ask('/oauth/account')).status).toBe(200);

    replicas[0] = await start(ports[0]);
    await replicas[1]?.stop('SIGKILL');
    await untilServing();
    replicas[1] = await start(ports[1]);
  });

  it('returns Assent’s own error pages while the database is unreachable', async () => {
    const before = await Promise.all(ports.map(notReady));
    line.close();
    // At its second check, the proxy has the answer to the first.
    const knows = async () => {
      const after = await Promise.all(ports.map(notReady));
      expect(Math.min(...after.map((count, index) => count - (before[index] ?? 0)))).toBeGreaterThan(1);
    };
    if (kind.checks) await vi.waitFor(knows, WAITING);

    const calm = { status: 503, headers: { 'retry-after': '5' } };
    const page = { ...calm, body: expect.stringContaining('data-page="error"') };
    const document = { ...calm, body: expect.stringContaining('"temporarily_unavailable"') };
    expect(await ask(authorization())).toMatchObject(page);
    expect(await ask('/oauth/token', tokenRequestOf(client, 'x'))).toMatchObject(document);
  });
});
