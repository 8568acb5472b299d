import { createServer, type Server } from 'node:http';
import { connect as connectPlain } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listen } from '../support/process/program.ts';
import { describeProxies, type RunningProxy, startProxy } from '../support/programs/proxies.ts';
import { freePort } from '../support/server.ts';

// The proxies of deploy/ limit networks that send too many requests, and handle servers that fail during a request. Callers have
// addresses of networks for documentation, by the PROXY protocol, because a loopback interface has one network of IPv6.

/** The proxies' limit of requests from one network at once, and the number of requests on each connection. */
const BURST = 1000;
const AT_ONCE = BURST / 2;

const PROGRAMS = [
  ...['/oauth/token', '/oauth/introspect', '/oauth/revoke', '/api/revoke'],
  ...['/oauth/spend', '/oauth/spend/release'],
];

describeProxies('in front of two servers', ({ takesAddress, ...kind }) => {
  let reached = 0;
  let exchanges = 0;
  let servers: Server[];
  let proxy: RunningProxy;

  beforeAll(async () => {
    const server = () =>
      createServer((request, response) => {
        if (request.url === '/oauth/account') reached += 1; // not a health check
        if (Number(request.headers['content-length'] ?? 0) === 0) return response.end();
        exchanges += 1;
        return request.resume().on('end', () => request.socket.destroy()); // like a replica that is killed
      });
    servers = [server(), server()];
    const [one = 0, two = 0] = await Promise.all(servers.map((each) => listen(each)));
    const more = takesAddress ? [takesAddress] : [];
    proxy = await startProxy(kind, await freePort(), [one, two], more);
  });

  afterAll(async () => {
    await proxy?.stop();
    for (const server of servers ?? []) server.close();
  });

  /** Repeats a request on one connection, each time with another X-Forwarded-For. @returns all answers */
  const send = async (address: string, request: string, times = 1, body = ''): Promise<string> => {
    const plain = connectPlain(Number(new URL(proxy.baseUrl).port), '127.0.0.1');
    const [family, to] = address.includes(':') ? ['TCP6', '2001:db8::1'] : ['TCP4', '192.0.2.1'];
    if (takesAddress) plain.write(`PROXY ${family} ${address} ${to} 40000 443\r\n`);
    const socket = connect({ socket: plain, rejectUnauthorized: false, servername: 'localhost' });
    for (let turn = 1; turn <= times; turn += 1) {
      const end = turn === times ? 'close' : 'keep-alive';
      const head = ['Host: localhost', `X-Forwarded-For: 203.0.113.${turn % 256}`, `Connection: ${end}`];
      socket.write(
        `${request} HTTP/1.1\r\n${head.join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    }
    return text(socket);
  };
  const statusesOf = (answers: string) =>
    [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

  // A little more than Assent accepts at each.
  it.each([
    ['/oauth/token', 8_300],
    ['/%6Fauth/token', 8_300],
    ['/api/revoke', 8_300],
    ['/oauth/consent', 33_000],
  ])('keeps using its servers after forms that are too long: %s, %i bytes', async (path, length) => {
    for (let turn = 0; turn < 4; turn += 1) {
      await send('198.51.100.40', `POST ${path}`, 1, 'c'.repeat(length)).catch(() => '');
    }
    expect(statusesOf(await send('198.51.100.40', 'GET /oauth/account'))).toEqual([200]);
  });

  it('never repeats a token request after a server failed', async () => {
    exchanges = 0;
    const answers = await send('198.51.100.40', 'POST /oauth/token', 1, 'code=never+issued');
    expect(exchanges).toBe(1);
    // HAProxy closes the connection without an answer.
    expect(statusesOf(answers).filter((status) => status !== 502)).toEqual([]);
  });

  describe.runIf(takesAddress)('in a flood from one network', () => {
    it.each([
      ['an IPv4 address', ['198.51.100.7'], '198.51.100.8'],
      ['an IPv6 /48', ['2001:db8:1::7', '2001:db8:1:2::7', '2001:db8:1:a:b:c:d:e'], '2001:db8:2::7'],
      ['an IPv4-mapped IPv6 address', ['::ffff:192.0.2.7'], '::ffff:192.0.2.8'],
    ])(
      'answers 429 after too many requests from %s, and 200 to another network [proxyLimits-1]',
      async (_what, network, neighbour) => {
        reached = 0;
        const answers: string[] = [];
        for (let turn = 0; turn < 5; turn += 1)
          answers.push(await send(network[turn % network.length] ?? '', 'GET /oauth/account', AT_ONCE));

        const statuses = answers.flatMap(statusesOf);
        expect(statuses.length).toBe(5 * AT_ONCE);
        expect(new Set(statuses.slice(0, BURST))).toEqual(new Set([200]));
        expect(new Set(statuses)).toEqual(new Set([200, 429]));
        expect(reached).toBe(statuses.filter((status) => status === 200).length);
        const [, refusal] = answers.join('').split('HTTP/1.1 429');
        expect(refusal).toMatch(/^retry-after: 10\r$/im);
        expect(refusal).toContain('Nothing was done. Wait ten seconds');
        expect(refusal).toContain('Подождите десять секунд');

        expect(new Set(statusesOf(await send(neighbour, 'GET /oauth/account', AT_ONCE)))).toEqual(
          new Set([200]),
        );
      },
    );

    it('does not limit requests of applications and payment APIs', async () => {
      for (const path of PROGRAMS) {
        const statuses = statusesOf(await send('198.51.100.20', `POST ${path}`, AT_ONCE));
        expect(new Set(statuses)).toEqual(new Set([200]));
      }
    });

    it.each([
      ...['GET /oauth/token', 'POST /oauth/token/', 'POST //oauth/token', 'POST /oauth/./token'],
      ...['POST /oauth/account/../oauth/token', 'POST /%6Fauth/token', 'POST /oauth/account?/oauth/token'],
    ])('limits requests that only resemble those of applications: %s', async (request) => {
      const statuses: number[] = [];
      for (let turn = 0; turn < 5 && !statuses.includes(429); turn += 1)
        statuses.push(...statusesOf(await send('198.51.100.30', request, AT_ONCE)));
      expect(statuses).toContain(429);
    });
  });
});
