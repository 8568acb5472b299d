import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { APIRequestContext, Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { launchChromium } from '../support/chromium.ts';
import { PROXIES, type RunningProxy, startProxy } from '../support/proxies.ts';
import { freePort } from '../support/server.ts';

// What the proxies of deploy/ do when a server fails in the middle of a request.

/** Proxies look after their servers once a second. */
const WAITING = { timeout: 20_000, interval: 50 };

describe.each(PROXIES)('$name', (kind) => {
  const { version } = kind;
  const found = version ? `version ${version}` : 'not installed: skipped';

  describe.runIf(version)(`in front of two servers that hang up, ${found}`, () => {
    let exchanges = 0;
    let servers: Server[];
    let proxy: RunningProxy;
    let browser: Browser;
    let request: APIRequestContext;

    beforeAll(async () => {
      const server = () =>
        createServer((received, response) => {
          if (received.method === 'GET') return response.end();
          exchanges += 1;
          received.resume().on('end', () => received.socket.destroy()); // as a replica that is killed
          return undefined;
        });
      servers = [server(), server()];
      for (const each of servers) await once(each.listen(0, '127.0.0.1'), 'listening');
      const [one = 0, two = 0] = servers.map((each) => (each.address() as AddressInfo).port);
      proxy = await startProxy(kind, await freePort(), [one, two]);
      browser = await launchChromium();
      ({ request } = await browser.newContext({ ignoreHTTPSErrors: true, baseURL: proxy.baseUrl }));
      await vi.waitFor(async () => expect((await request.get('/account')).status()).toBe(200), WAITING);
    });

    afterAll(async () => {
      await browser?.close();
      await proxy?.stop();
      for (const server of servers ?? []) server.close();
    });

    /** HAProxy closes the connection without an answer, the others say 502. */
    const post = (form: Record<string, string>, path = '/oauth/token') =>
      request.post(path, { form }).then(
        (answer) => answer.status() < 500,
        () => false,
      );

    // A little more than Assent reads at each.
    it.each([
      ['/oauth/token', 8_300],
      ['/%6Fauth/token', 8_300],
      ['/api/revoke', 8_300],
      ['/consent', 33_000],
    ])(
      'leaves none out because of a caller whose forms are too long to be read: %s, %i',
      async (path, length) => {
        for (let turn = 0; turn < 4; turn += 1) await post({ code: 'c'.repeat(length) }, path);
        expect((await request.get('/account')).status()).toBe(200);
      },
    );

    it('never sends an exchange twice', async () => {
      exchanges = 0;
      const answered = await post({ code: 'never issued' });
      expect({ exchanges, answered }).toEqual({ exchanges: 1, answered: false });
    });
  });
});
