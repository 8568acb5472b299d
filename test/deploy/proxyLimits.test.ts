import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect as connectPlain } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROXIES, type RunningProxy, startProxy } from '../support/proxies.ts';
import { freePort } from '../support/server.ts';

// How much of one network the proxies of deploy/ let through. Callers have addresses of documentation's networks, which a line of
// the PROXY protocol tells the proxy: a loopback interface has no two networks of IPv6.

/** What is served of one network in one moment, and how many are sent on one connection. */
const BURST = 1000;
const AT_ONCE = BURST / 2;

describe.each(PROXIES.filter(({ takesAddress }) => takesAddress))('$name', (kind) => {
  const { version, takesAddress = ['', ''] } = kind;
  const found = version ? `version ${version}` : 'not installed: skipped';

  describe.runIf(version)(`in front of two servers, ${found}`, () => {
    let reached = 0;
    let servers: Server[];
    let proxy: RunningProxy;

    beforeAll(async () => {
      const server = () =>
        createServer((request, response) => {
          if (request.url === '/account') reached += 1; // and not a check of its health
          response.end();
        });
      servers = [server(), server()];
      for (const each of servers) await once(each.listen(0, '127.0.0.1'), 'listening');
      const [one = 0, two = 0] = servers.map((each) => (each.address() as AddressInfo).port);
      proxy = await startProxy(kind, await freePort(), [one, two], [takesAddress]);
    });

    afterAll(async () => {
      await proxy?.stop();
      for (const server of servers ?? []) server.close();
    });

    /** Sends a request over and over on one connection, each time with another claim of whose it is. @returns all answers */
    const send = async (address: string, request: string, times = AT_ONCE): Promise<string> => {
      const plain = connectPlain(Number(new URL(proxy.baseUrl).port), '127.0.0.1');
      const [family, to] = address.includes(':') ? ['TCP6', '2001:db8::1'] : ['TCP4', '192.0.2.1'];
      plain.write(`PROXY ${family} ${address} ${to} 40000 443\r\n`);
      const socket = connect({ socket: plain, rejectUnauthorized: false });
      for (let turn = 1; turn <= times; turn += 1) {
        const end = turn === times ? 'close' : 'keep-alive';
        const head = ['Host: localhost', `X-Forwarded-For: 203.0.113.${turn % 256}`, `Connection: ${end}`];
        socket.write(`${request} HTTP/1.1\r\n${head.join('\r\n')}\r\nContent-Length: 0\r\n\r\n`);
      }
      return text(socket);
    };
    const statusesOf = (answers: string) =>
      [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

    it.each([
      ['an IPv4 address', ['198.51.100.7'], '198.51.100.8'],
      [
        'the first 48 bits of an IPv6 address',
        ['2001:db8:1::7', '2001:db8:1:2::7', '2001:db8:1:a:b:c:d:e'],
        '2001:db8:2::7',
      ],
      ['an IPv4 address in the form of IPv6', ['::ffff:192.0.2.7'], '::ffff:192.0.2.8'],
    ])(
      'serves a thousand at once of one network, then no more than its rate, and its neighbour as ever: %s',
      async (_what, network, neighbour) => {
        reached = 0;
        const answers: string[] = [];
        for (let turn = 0; turn < 5; turn += 1)
          answers.push(await send(network[turn % network.length] ?? '', 'GET /account'));

        const statuses = answers.flatMap(statusesOf);
        expect(statuses.length).toBe(5 * AT_ONCE);
        expect(new Set(statuses.slice(0, BURST))).toEqual(new Set([200]));
        expect(new Set(statuses)).toEqual(new Set([200, 429]));
        expect(reached).toBe(statuses.filter((status) => status === 200).length);
        const [, refusal] = answers.join('').split('HTTP/1.1 429');
        expect(refusal).toMatch(/^retry-after: 10\r$/im);
        expect(refusal).toContain('Nothing was done. Wait ten seconds');
        expect(refusal).toContain('Подождите десять секунд');

        expect(new Set(statusesOf(await send(neighbour, 'GET /account')))).toEqual(new Set([200]));
      },
    );

    it('limits no application and no payment API', async () => {
      for (const path of ['/oauth/token', '/oauth/introspect', '/oauth/revoke', '/api/revoke']) {
        const statuses = statusesOf(await send('198.51.100.20', `POST ${path}`));
        expect(new Set(statuses)).toEqual(new Set([200]));
      }
    });

    it.each([
      ...['GET /oauth/token', 'POST /oauth/token/', 'POST //oauth/token', 'POST /oauth/./token'],
      ...['POST /account/../oauth/token', 'POST /%6Fauth/token', 'POST /account?/oauth/token'],
    ])('limits what only looks like one of them: %s', async (request) => {
      const address = '198.51.100.30';
      const statuses: number[] = [];
      for (let turn = 0; turn < 5 && !statuses.includes(429); turn += 1)
        statuses.push(...statusesOf(await send(address, request)));
      expect(statuses).toContain(429);
    });
  });
});
