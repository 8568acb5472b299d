import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { linkTo, requestOf } from '../support/flow.ts';
import { readFile } from '../support/process/folder.ts';
import { listen } from '../support/process/program.ts';
import { confirmPayment, expectPage, signIn, useBrowser } from '../support/programs/browsing.ts';
import { PROXIES, type RunningProxy, startProxy } from '../support/programs/proxies.ts';
import { freePort, startServer, type TestServer } from '../support/server.ts';

// One host for Assent and the wallet's own site: nginx with the file of deploy/ and the lines of docs/operate/proxy.md.

const [nginx] = PROXIES;
const [, lines = ''] = /```nginx\n(.+?)```/s.exec(readFile('docs/operate/proxy.md')) ?? [];

describe.runIf(nginx?.version)(`nginx, ${nginx?.version ?? 'not installed: skipped'}`, () => {
  const browsing = useBrowser({ ignoreHTTPSErrors: true });
  let site: Server;
  let server: TestServer;
  let proxy: RunningProxy;

  beforeAll(async () => {
    if (nginx === undefined) return;
    site = createServer((_request, response) => response.end('the other site'));
    const port = await freePort();
    server = await startServer({ baseUrl: `https://localhost:${port}`, trustProxy: 1 });
    const ours = Number(new URL(server.baseUrl).port);
    const locations = lines.replace('the_other_site', `127.0.0.1:${await listen(site)}`);
    proxy = await startProxy(
      nginx,
      port,
      [ours, ours],
      [['location / { proxy_pass http://assent; }', locations]],
    );
  });

  afterAll(async () => {
    await proxy?.stop();
    await server?.close();
    site?.close();
  });

  it('sends every page and file of an authorization to Assent, and the rest to the other site', async () => {
    const user = await server.createUser();
    const application = createServer((_request, response) => response.end('thank you'));
    const redirectUri = `http://127.0.0.1:${await listen(application)}/callback`;
    const client = await server.createClient({ redirectUri });
    const page = await browsing.open({ baseURL: proxy.baseUrl });
    const answers: string[] = [];
    page.on('response', (response) => {
      const { origin, pathname } = new URL(response.url());
      const by = response.headers()['x-request-id'] === undefined ? 'other' : 'Assent';
      if (origin === proxy.baseUrl) answers.push(`${by} ${response.status()} ${pathname}`);
    });

    await page.goto(linkTo(requestOf(client, { scope: 'payment-p2p' })));
    await signIn(page, user);
    await expectPage(page, 'consent');
    await page.locator('[value=allow]').click();
    await expectPage(page, 'confirm');
    await confirmPayment(page, user.paymentPassword);
    await page.waitForURL(/\/callback\?code=/);
    application.close();

    await page.goto('/oauth/account');
    for (const name of ['history', 'security', 'stop', 'account']) {
      await page.locator(`nav.own a[href$="/${name}"]`).click();
      await expectPage(page, name);
    }
    await page.getByRole('button', { name: 'Русский' }).click();
    await page.getByRole('button', { name: 'Выйти' }).click();
    await expectPage(page, 'sign-in');
    const unexpected = answers.filter((answer) => !/^Assent (200|30[23]) \/oauth\//.test(answer));
    expect(unexpected).toEqual([]);
    expect(answers).toEqual(expect.arrayContaining([expect.stringMatching(/style-.+\.css$/)]));

    const metadata = await page.request.get('/.well-known/oauth-authorization-server');
    expect(await metadata.json()).toMatchObject({ issuer: proxy.baseUrl });
    for (const path of ['/', '/account', '/sign-in', '/metrics.html', '/oauthority'])
      expect(await (await page.request.get(path)).text()).toBe('the other site');
    expect((await page.request.get('/metrics')).status()).toBe(404);
  });
});
