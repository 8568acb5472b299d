import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import https from 'node:https';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { transaction } from '../../src/store/database/database.ts';
import { obtainToken } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { newSecret } from '../support/ledger.ts';
import { commandsOn } from '../support/process/commands.ts';
import { CHECKOUT, useFolder } from '../support/process/folder.ts';
import { startNotifier } from '../support/process/notifier.ts';
import { onDatabase } from '../support/process/process.ts';
import { listen } from '../support/process/program.ts';
import { makeCertificate, makeEndedCertificate } from '../support/programs/certificates.ts';
import { hasNetworks, inOwnNetwork } from '../support/programs/ownNetwork.ts';
import { openReceivers, verify } from '../support/receivers.ts';
import { TEST_SECRET, useServer } from '../support/server.ts';

// `assent notify` tells applications by webhooks that an authorization has ended.

const server = await useServer();
const receivers = await openReceivers(useFolder());
afterAll(() => receivers.close());
const variables = {
  ...onDatabase(server.database.url),
  BASE_URL: server.baseUrl,
  NODE_EXTRA_CA_CERTS: receivers.certificate,
};
const { assent, json } = commandsOn(variables);

const notify = (more: Record<string, string> = {}, line?: string) =>
  startNotifier({ ...variables, ...more }, line);

/** An application that is told of events at a path of its own. */
async function applicationAt(path: string) {
  const client = await server.createClient();
  await json(`client update ${client.clientId} --events-uri ${receivers.uriOf(path)} --events-internal`);
  return client;
}

const users = async () => server.createUser({ paymentPassword: null });
const agent = new Agent(server.baseUrl);
const tokenFor = async (
  ...[client, user, fields]: [Parameters<typeof obtainToken>[1], Parameters<typeof obtainToken>[2], object?]
) => obtainToken(new Agent(server.baseUrl), client, user, fields as Record<string, string>);
const revoke = (token: string) => agent.post('/api/revoke', {}, { authorization: `Bearer ${token}` });
const reasonsAt = (path: string) => receivers.acceptedAt(path).map(({ data }) => data.reason);

/** Of which the last answers. */
const manyPublic = (count: number) => [
  ...Array.from({ length: count - 1 }, (_, n) => `93.184.217.${n}`),
  '93.184.216.34',
];

let paths = 0;
let path = '';
beforeEach(() => {
  paths += 1;
  path = `/hook-${paths}`;
});

describe('an application', () => {
  it('is told of each end of an authorization, by whom, and never who the user is', async () => {
    const client = await applicationAt(path);
    const user = await users();
    await notify();
    await tokenFor(client, user);
    const token = await tokenFor(client, user);
    const { grant_id } = JSON.parse(
      (await agent.post('/oauth/introspect', { token }, { authorization: await server.createResource() }))
        .body,
    );
    await revoke(token);
    // This replaces nothing: what it could replace has ended.
    await revoke(await tokenFor(client, user));
    await tokenFor(client, user, { instance_name: 'kitchen' });
    await json(`user block ${user.login}`);
    await json(`client block ${client.clientId}`);
    await expect
      .poll(() => reasonsAt(path), { timeout: 20_000 })
      .toEqual(['replaced', 'application', 'application', 'user_blocked', 'client_blocked']);
    const [first, , , blocked, last] = receivers.acceptedAt(path);
    const data = { grant_id, client_id: client.clientId, instance_name: null, reason: 'replaced' };
    expect(first).toEqual({ type: 'authorization.ended', timestamp: expect.any(String), data });
    expect(blocked.data.instance_name).toBe('kitchen');
    expect(last.data.grant_id).toBeNull();
    const bodies = receivers.deliveries.filter((one) => one.path === path).map(({ body }) => body);
    for (const secret of [user.login, user.userId, token]) expect(bodies.join()).not.toContain(secret);
  });

  it('is told of a deletion, and of the block before if it reads that first', async () => {
    const client = await applicationAt(path);
    const user = await users();
    await notify();
    await tokenFor(client, user);
    const deletion = await transaction(server.database.pool, async (connection) => {
      await connection.query('lock table grants in share mode'); // the deletion waits between its block and its revocation
      const deleted = json(`user delete ${user.login} --yes`);
      await expect.poll(() => reasonsAt(path)).toEqual(['user_blocked']);
      return { deleted };
    });
    await deletion.deleted;
    await expect.poll(() => reasonsAt(path)).toEqual(['user_blocked', 'deleted']);
    const [blocked, deleted] = receivers.acceptedAt(path);
    expect(deleted.data.grant_id).toBe(blocked.data.grant_id);
    const bodies = receivers.deliveries.filter((one) => one.path === path).map(({ body }) => body);
    for (const secret of [user.login, user.userId]) expect(bodies.join()).not.toContain(secret);
  });

  it('is told only the end of an authorization that came before the block of its user was read', async () => {
    const client = await applicationAt(path);
    const user = await users();
    await notify();
    const token = await tokenFor(client, user);
    await transaction(server.database.pool, async (connection) => {
      await connection.query('select pg_current_xact_id()'); // what comes now is read when this ends
      await json(`user block ${user.login}`);
      await json(`user unblock ${user.login}`);
      await revoke(token);
    });
    await expect.poll(() => reasonsAt(path)).toEqual(['application']);
  });

  it('verifies the signature with the secret that a command shows, also while SECRETS change', async () => {
    const client = await applicationAt(path);
    const user = await users();
    const old = await json<{ secrets: string[] }>(`notify secret ${client.clientId}`);
    const SECRETS = `${newSecret()}${newSecret()},${TEST_SECRET}`;
    const { secrets } = await commandsOn({ ...variables, SECRETS }).json<{ secrets: string[] }>(
      `notify secret ${client.clientId}`,
    );
    expect(secrets[1]).toBe(old.secrets[0]);
    await notify({ SECRETS });
    await revoke(await tokenFor(client, user));
    await expect.poll(() => reasonsAt(path), { timeout: 20_000 }).toEqual(['application']);
    const [delivery] = receivers.deliveries.filter((one) => one.path === path);
    for (const secret of secrets)
      expect(verify(delivery as never, secret)).toMatchObject({ type: 'authorization.ended' });
    const {
      secrets: [foreign = ''],
    } = await json<{ secrets: string[] }>(`notify secret ${(await applicationAt(`${path}-other`)).clientId}`);
    expect(() => verify(delivery as never, foreign)).toThrow();
  });

  it('gets what it has missed when it answers again, in order, while others are told at once', async () => {
    const [client, healthy] = [await applicationAt(path), await applicationAt(`${path}-healthy`)];
    const user = await users();
    let isDown = true;
    receivers.answer(path, () => (isDown ? 503 : 204));
    const { log } = await notify();
    for (const instance_name of ['one', 'two', 'three'])
      await revoke(await tokenFor(client, user, { instance_name }));
    await revoke(await tokenFor(healthy, user));
    await expect.poll(() => reasonsAt(`${path}-healthy`), { timeout: 20_000 }).toEqual(['application']);
    await expect.poll(log, { timeout: 20_000 }).toContain('a webhook was not delivered');
    const { events_behind } = await json<{ events_behind: object }>(`client show ${client.clientId}`);
    expect(events_behind).toMatchObject({ last_error: 'status 503', is_paused: false });
    isDown = false;
    await assent(`notify resume ${client.clientId}`); // the next try may have come first
    const names = () => receivers.acceptedAt(path).map(({ data }) => data.instance_name);
    await expect.poll(names, { timeout: 20_000 }).toEqual(['one', 'two', 'three']);
    await expect
      .poll(
        async () => (await json<{ events_behind: unknown }>(`client show ${client.clientId}`)).events_behind,
        { timeout: 20_000 },
      )
      .toBeUndefined();
    await revoke(await tokenFor(client, user));
    await expect.poll(() => reasonsAt(path).length, { timeout: 20_000 }).toBe(4);
  });
});

describe('assent notify test', () => {
  const failing = async (uri: string, more = '') => {
    const { clientId } = await server.createClient();
    await json(`client update ${clientId} --events-uri ${uri} ${more}`);
    const { code, stderr } = await assent(`notify test ${clientId}`);
    expect(code).toBe(1);
    return stderr.trim().replace(`${uri}: `, '');
  };

  it.each([
    'https://169.254.169.254/latest',
    'https://127.0.0.1/',
    'https://10.1.2.3/',
    'https://[::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://[fd00::1]/',
    'https://[64:ff9b::a00:1]/',
    'https://[2002:a00:1::]/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://localhost:1/',
  ])('refuses an address that is not on the Internet: %s', async (uri) => {
    expect(await failing(uri)).toMatch(/^the address is not on the Internet/);
  });

  it.each([
    ['a redirect', () => 301, 'status 301'],
    ['an error', () => 500, 'status 500'],
    [
      'a closed connection',
      (_: unknown, response: ServerResponse): number => {
        response.destroy();
        return 0;
      },
      'socket hang up',
    ],
    ['a 200 only after 11 seconds', () => sleep(11_000, 200, { ref: false }), 'no answer within 10 seconds'],
    [
      'a 200 whose end never comes',
      async (_: unknown, response: ServerResponse): Promise<number> => {
        response.writeHead(200).write('{');
        await once(response, 'close');
        return 200;
      },
      'no answer within 10 seconds',
    ],
  ] as const)('is not satisfied with %s, and follows none', async (_what, answer, said) => {
    receivers.answer(path, answer);
    expect(await failing(receivers.uriOf(path), '--events-internal')).toBe(said);
    expect(receivers.deliveries.filter((one) => one.path.startsWith('/elsewhere'))).toEqual([]);
  });

  it('reads no more than a little of a response', async () => {
    let sent = 0;
    receivers.answer(path, (_request, response) => {
      response.writeHead(200);
      const chunk = Buffer.alloc(65_536);
      const push = () => {
        while (!response.destroyed && sent < 1e9 && response.write(chunk)) sent += chunk.length;
        if (sent < 1e9) response.once('drain', push);
      };
      push();
      return 200;
    });
    const { clientId } = await applicationAt(path);
    expect((await assent(`notify test ${clientId}`)).code).toBe(0);
    expect(sent).toBeLessThan(50e6);
  });

  it('is not satisfied with something else than HTTP, with or without TLS', async () => {
    receivers.answer(path, async ({ socket }) => {
      socket.end('SSH-2.0-OpenSSH_9.2\r\n');
      await once(socket, 'close').catch(() => {}); // a reset is an end, too
      return 0;
    });
    expect(await failing(receivers.uriOf(path), '--events-internal')).toMatch(/^Parse Error: Expected HTTP/);
    const plain = createServer((socket) => void socket.on('error', () => {}).end('SSH-2.0-OpenSSH_9.2\r\n'));
    onTestFinished(() => void plain.close());
    const port = await listen(plain);
    expect(await failing(`https://localhost:${port}/`, '--events-internal')).toMatch(/wrong version number/);
  });

  it.each([
    [
      'of its name',
      (folder: string) => makeCertificate(folder, 'own', 'x', 'subjectAltName=DNS:other.example'),
      /does not match/,
    ],
    [
      'that has not ended',
      (folder: string) => makeEndedCertificate(folder, 'own'),
      /certificate has expired/,
    ],
  ] as const)('needs a certificate %s', async (_which, make, said) => {
    const folder = useFolder(onTestFinished);
    const [key, cert] = make(folder);
    let requests = 0;
    const receiver = https.createServer({ key, cert }, (_request, response) => {
      requests += 1;
      response.writeHead(204).end();
    });
    onTestFinished(() => void receiver.close());
    const { clientId } = await server.createClient();
    const uri = `https://localhost:${await listen(receiver)}/`;
    await json(`client update ${clientId} --events-uri ${uri} --events-internal`);
    const trusting = commandsOn({ ...variables, NODE_EXTRA_CA_CERTS: join(folder, 'own.crt') });
    const { code, stderr } = await trusting.assent(`notify test ${clientId}`);
    expect([code, stderr, requests]).toEqual([1, expect.stringMatching(said), 0]);
  });

  it('needs a certificate that it can verify', async () => {
    const { clientId } = await applicationAt(path);
    const plain = commandsOn({ ...variables, NODE_EXTRA_CA_CERTS: '' });
    const { code, stderr } = await plain.assent(`notify test ${clientId}`);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/self-signed certificate|unable to verify/)]);
  });
});

describe.skipIf(!hasNetworks)(
  'assent notify test of a name (needs `unshare`, `ip`, and PostgreSQL at a socket)',
  () => {
    const PUBLIC = '93.184.216.34';
    const INTERNAL = ['127.0.0.1', '169.254.169.254', '10.0.0.7', 'fd00::7'];
    const REFUSED = 'the address is not on the Internet: mark it as internal if it is yours';
    type Answers = Partial<Record<'A' | 'AAAA', readonly (readonly string[])[]>>;

    /** Posts a test to a name in an Internet of its own, several times. @returns what each time said, and who was connected to */
    async function post(answers: Answers, times = 1) {
      const name = 'shop.example';
      const uri = `https://${name}:8443/hook`;
      const { clientId } = await server.createClient();
      await json(`client update ${clientId} --events-uri ${uri}`);
      const internet = { addresses: [PUBLIC, ...INTERNAL], names: { [name]: answers }, port: 8443 };
      const command = [process.execPath, join(CHECKOUT, 'bin/assent.js'), 'notify', 'test', clientId];
      const { runs, connections, questions } = await inOwnNetwork(
        useFolder(onTestFinished),
        internet,
        Array(times).fill(command),
        { ...onDatabase(server.database.url), BASE_URL: server.baseUrl },
      );
      const said = runs.map(({ code, stderr }) =>
        code === 0 ? 'delivered' : stderr.trim().replace(`${uri}: `, ''),
      );
      return { said, connections, questions: questions[name] };
    }

    it('posts to its public address', async () => {
      const { said, connections } = await post({ A: [[PUBLIC]] });
      expect([said, connections]).toEqual([['delivered'], { [PUBLIC]: 1 }]);
    });

    it.each([
      ['one of a hundred addresses is internal', { A: [[...manyPublic(99), '10.0.0.7']] }],
      ['its only address is internal', { A: [['127.0.0.1']] }],
      ['its IPv6 address is internal', { A: [[PUBLIC]], AAAA: [['fd00::7']] }],
      ['its IPv6 address is internal, of IPv4', { A: [[PUBLIC]], AAAA: [['::ffff:7f00:1']] }],
    ])('connects to no address if %s', async (_what, answers) => {
      const { said, connections } = await post(answers);
      expect([said, connections]).toEqual([[REFUSED], {}]);
    });

    it.each(['127.0.0.1', '169.254.169.254', '10.0.0.7'])(
      'connects to the address that it has checked, not to the next answer %s',
      async (internal) => {
        const { said, connections } = await post({ A: [[PUBLIC], [internal]] }, 2);
        expect([said, connections]).toEqual([['delivered', REFUSED], { [PUBLIC]: 1 }]);
      },
    );
  },
);

it.each([
  'http://shop.example/hook',
  'https://user@shop.example/',
  'https://shop.example/#x',
  'ftp://shop.example/',
  'x',
])('an address for events such as %s is refused', async (uri) => {
  const { clientId } = await server.createClient();
  const { code, stderr } = await assent(`client update ${clientId} --events-uri ${uri}`);
  expect([code, stderr]).toEqual([1, expect.stringContaining('the URI for events must be https://')]);
});

describe('the wallet', () => {
  it('gets messages ready to send, in the user’s language, of access, new browsers, passwords and ends', async () => {
    const [anna, ivan] = [await users(), await users()];
    const client = await server.createClient({ name: 'Green Mountain' });
    await notify({ NOTIFY_URL: receivers.uriOf(path) });
    const browser = new Agent(server.baseUrl);
    await obtainToken(browser, client, anna, { scope: 'account-info payment-shop.limit(7,5000)' });
    await obtainToken(browser, client, anna, { scope: 'payment-shop.limit(7,9000) operation-history' });
    await obtainToken(browser, client, anna, { scope: 'payment-shop.limit(7,9000) operation-history' });
    await revoke(await obtainToken(browser, client, anna, { scope: 'account-info' }));
    await revoke(await obtainToken(browser, client, anna, { scope: 'account-info' }));
    await server.database.pool.query(`update users set language = 'ru' where user_id = $1`, [ivan.userId]);
    await tokenFor(client, ivan, { scope: 'payment-shop.limit(7,5000)' });
    await json(`user set-password ${ivan.login} --password-stdin`, `${newSecret()}\n`);
    const messages = () => receivers.acceptedAt(path);
    const kindsOf = ({ userId }: { userId: string }) =>
      messages()
        .filter((one) => one.user_id === userId)
        .map(({ kind }) => kind);
    await expect
      .poll(() => kindsOf(ivan), { timeout: 20_000 })
      .toEqual(['new_browser', 'allowed', 'password_set']);
    expect(kindsOf(anna)).toEqual([
      'new_browser',
      'allowed',
      'replaced',
      'replaced',
      'replaced',
      'ended',
      'allowed',
      'ended',
    ]);
    const time = /\d+\s\S+\s\d{4}.{1,9}[\d:]+ UTC/g;
    const day = /\d+\s\S+\s\d{4}(\sг\.)?/g;
    const texts = messages().map(({ subject, text, link }) =>
      `${subject}: ${text}`
        .replaceAll(link, '{link}')
        .replaceAll(/\d{4}-\d\d-\d\d-[0-9a-f]{10}/g, '{number}')
        .replaceAll(time, '{time}')
        .replaceAll(day, '{day}'),
    );
    expect(texts).toMatchInlineSnapshot(`
      [
        "New sign-in: Unknown browser on an unknown system: {time}, IP address 127.0.0.x. Was this you? Then there is nothing to do. If not: {link}",
        "Green Mountain can now pay from your account: You allowed this on {time}: see your account number, balance and status and pay any shop (at most RUB 5,000 in any 7 days), until {day}. RUB 785,000 at most in all. Receipt {number}: {link} Not you? Open it and press “No, secure my account”.",
        "Green Mountain’s access has changed: You allowed this on {time}. New: see the list of your transactions. It can no longer see your account number, balance and status. From now on: pay any shop (at most RUB 9,000 in any 7 days, before: at most RUB 5,000 in any 7 days) and see the list of your transactions, until {day}. RUB 1,413,000 at most in all. Receipt {number}: {link} Not you? Open it and press “No, secure my account”.",
        "You allowed Green Mountain again: You allowed this on {time}. From now on: pay any shop (at most RUB 9,000 in any 7 days) and see the list of your transactions, until {day}. RUB 1,413,000 at most in all. Receipt {number}: {link} Not you? Open it and press “No, secure my account”.",
        "Green Mountain’s access has changed: You allowed this on {time}. New: see your account number, balance and status. It can no longer pay any shop or see the list of your transactions. From now on: see your account number, balance and status, until {day}. It can’t spend your money. Receipt {number}: {link} Not you? Open it and press “No, secure my account”.",
        "Green Mountain can no longer use your account: It gave up its access on {time}. Payments already made are not undone.",
        "Green Mountain can now see your account: You allowed this on {time}: see your account number, balance and status, until {day}. It can’t spend your money. Receipt {number}: {link} Not you? Open it and press “No, secure my account”.",
        "Green Mountain can no longer use your account: It gave up its access on {time}. Payments already made are not undone.",
        "Новый вход: Неизвестный браузер, неизвестная система: {time}, IP‑адрес 127.0.0.x. Это были вы? Тогда ничего делать не нужно. Если нет: {link}",
        "Green Mountain теперь может платить с вашего счёта: Вы разрешили это {time}: платить любым магазинам (не больше 5 000 ₽ за любые 7 дней) (до {day}). Всего не больше 785 000 ₽. Квитанция {number}: {link} Это были не вы? Откройте её и нажмите «Нет, защитить аккаунт».",
        "Мы задали вам новый пароль: Вы об этом просили? Тогда войдите с ним и придумайте свой: {link} Если нет, позвоните нам.",
      ]
    `);
    const { link } = messages().find(({ kind }) => kind === 'allowed') ?? {};
    expect((await browser.get(link.replace(server.baseUrl, ''))).text).toContain('Green Mountain');
    expect(messages()[0]).toMatchObject({ login: anna.login, external_id: null, language: 'en' });
  });
});

it('an endpoint that has failed for three days is paused, which the log and doctor say, until it is resumed', async () => {
  const client = await applicationAt(path);
  const user = await users();
  receivers.answer(path, () => 500);
  const { log } = await notify();
  await revoke(await tokenFor(client, user));
  const endpoint = `client:${client.clientId}`;
  const setSince = (ago: string) =>
    server.database.pool.query(
      `update notify_cursors set failing_since = now() - $2::interval, failures = 9, next_try_at = now() where endpoint = $1`,
      [endpoint, ago],
    );
  await expect.poll(async () => (await setSince('71 hours')).rowCount, { timeout: 20_000 }).toBe(1);
  await expect.poll(log, { timeout: 20_000 }).toMatch(/"level":"error".*an endpoint is paused/);
  await setSince('73 hours');
  const tries = receivers.deliveries.filter((one) => one.path === path).length;
  const { stdout } = await assent('doctor');
  expect(stdout).toMatch(
    new RegExp(`${endpoint} failed to take \\d+ webhooks in a row: status 500; it is paused`),
  );
  expect(receivers.deliveries.filter((one) => one.path === path)).toHaveLength(tries);
  receivers.answer(path, () => 204);
  await json(`notify resume ${client.clientId}`);
  await expect.poll(() => reasonsAt(path), { timeout: 20_000 }).toEqual(['application']);
});

it('assent maintain writes what has ended, and what ends in 30 days, also of single rights, once each, and all are told; not what was allowed again, or whose user was deleted', async () => {
  const client = await applicationAt(path);
  const user = await users();
  const { pool } = server.database;
  const maintain = async () => (await json<{ ended: number }>('maintain')).ended;
  expect(await maintain()).toBe(0);
  const DAY_MS = 86_400_000;
  const day = (offset: number) => new Date(Date.now() + offset * DAY_MS).toISOString().slice(0, 10);
  const begin = () =>
    pool.query(`update settings set value = $1 where name = 'endings_until'`, [
      new Date(Date.now() - 2 * DAY_MS),
    ]);
  await begin();
  await notify({ NOTIFY_URL: receivers.uriOf(`${path}-wallet`) });
  const until = (last: string) =>
    `account-info payment-shop.limit(7,5000).until(${last}) payment-p2p.limit(7,10)`;
  for (const [instance_name, left, scope] of [
    ['over', '0', 'account-info'],
    ['soon', '30 days', 'account-info'],
    ['revoked', '0', 'account-info'],
    ['allowed again', '0', 'account-info'],
    ['deleted', '0', 'account-info'],
    ['later', '31 days', 'account-info'],
    ['right over', '1 year', until(day(-1))],
    ['right soon', '1 year', until(day(29))],
    ['right of a month', '1 year', until(day(29))],
    ['right after the token', '90 days', until(day(91))],
    ['only a name', '1 year', `payment.to-pattern("x.limit(1,2).until(${day(-1)})").limit(7,10)`],
  ] as const) {
    const owner = instance_name === 'deleted' ? await users() : user;
    const token = await tokenFor(client, owner, { instance_name });
    await pool.query(
      `update grants set token_issued_at = (clock_timestamp() at time zone 'UTC' - interval '36 months') at time zone 'UTC' + $2::interval,
              scope = $4, confirmed_at = clock_timestamp() - case instance_name when 'right of a month' then interval '2 days' else interval '2 years' end
        where instance_name = $1 and user_id = $3`,
      [instance_name, left, owner.userId, scope],
    );
    if (instance_name === 'revoked')
      await pool.query(`update grants set revoked_at = now() where instance_name = 'revoked'`);
    if (instance_name === 'deleted') await json(`user delete ${owner.login} --yes`);
    if (instance_name === 'allowed again') await tokenFor(client, user, { instance_name });
    expect(token).toBeTruthy();
  }
  expect(await maintain()).toBe(4);
  // Also after a run that was interrupted.
  await begin();
  expect(await maintain()).toBe(0);
  const told = () =>
    receivers.acceptedAt(path).map(({ type, data }) => [type, data.instance_name, data.reason]);
  const [ended, lowered] = ['authorization.ended', 'authorization.lowered'];
  await expect
    .poll(() => told().sort(), { timeout: 20_000 })
    .toEqual([
      [ended, 'over', 'expired'],
      [lowered, 'right over', 'expired'],
    ]);
  const scopes = receivers.acceptedAt(path).map(({ data }) => data.scope);
  expect(scopes).toContain('account-info payment-p2p.limit(7,10)');
  const messages = () => receivers.acceptedAt(`${path}-wallet`).filter(({ kind }) => kind.includes('end'));
  await expect
    .poll(
      () =>
        messages()
          .map(({ kind }) => kind)
          .sort(),
      { timeout: 20_000 },
    )
    .toEqual(['ended', 'ends_soon', 'ends_soon', 'right_ended']);
  const texts = messages()
    .map(({ subject, text }) =>
      `${subject}: ${text}`.replaceAll(/\d+\s\w+\s\d{4}(\sat\s[\d:]+\sUTC)?/g, '{time}'),
    )
    .sort();
  expect(texts).toMatchInlineSnapshot(`
    [
      "Part of Test Shop’s access ends on {time}: Afterwards it can no longer pay any shop. Nothing to do if you no longer need it. To keep it, start again from inside Test Shop; we will ask you first.",
      "Part of Test Shop’s access has ended: Since the end of {time} it can no longer pay any shop. Payments already made are not undone.",
      "Test Shop can no longer use your account: Its time was over on {time}. Payments already made are not undone.",
      "Test Shop’s access ends on {time}: Nothing to do if you no longer need it. To keep it, start again from inside Test Shop; we will ask you first.",
    ]
  `);
});

it('tells the application and the wallet what an operator has left of an authorization', async () => {
  const client = await applicationAt(path);
  const scope = 'account-info payment-shop.limit(7,5000)';
  await tokenFor(client, await users(), { scope });
  await notify({ NOTIFY_URL: receivers.uriOf(`${path}-wallet`) });
  const [grant] = await json<{ grant_id: string }[]>(`grant list --client ${client.clientId}`);
  const left = 'payment-shop.limit(7,900)';
  await json(`grant lower ${grant?.grant_id} --scope ${left}`);
  await expect
    .poll(() => receivers.acceptedAt(path).map(({ type, data }) => [type, data]), { timeout: 20_000 })
    .toEqual([
      [
        'authorization.lowered',
        {
          grant_id: grant?.grant_id,
          client_id: client.clientId,
          instance_name: null,
          reason: 'operator',
          scope: left,
        },
      ],
    ]);
  const message = () => receivers.acceptedAt(`${path}-wallet`).find(({ kind }) => kind === 'lowered');
  await expect.poll(message, { timeout: 20_000 }).toBeTruthy();
  const { subject, text } = message() ?? {};
  expect(`${subject}: ${text}`.replace(/\d+\s\w+\s\d{4}\sat\s[\d:]+\sUTC/, '{time}')).toMatchInlineSnapshot(
    `"Test Shop may do less now: We lowered this on {time}. It can no longer see your account number, balance and status. From now on: pay any shop (at most RUB 900 in any 7 days, before: at most RUB 5,000 in any 7 days). Payments already made are not undone."`,
  );
});

it('an idle connection that its receiver has just closed is not a failure', async () => {
  const client = await applicationAt(path);
  const user = await users();
  const used = new WeakSet<object>();
  receivers.answer(path, (request) => {
    if (used.has(request.socket)) {
      request.socket.destroy();
      return 0;
    }
    used.add(request.socket);
    return 204;
  });
  const tokens = ['a', 'b', 'c'].map((instance_name) => tokenFor(client, user, { instance_name }));
  const held = await Promise.all(tokens);
  const { log } = await notify();
  await Promise.all(held.map(revoke));
  await expect.poll(() => receivers.acceptedAt(path).length, { timeout: 20_000 }).toBe(3);
  expect(receivers.deliveries.some((one) => one.path === path && one.status === 0)).toBe(true);
  expect(log()).not.toContain('was not delivered');
});

it('killed again and again, and with receivers that fail one in three, it misses nothing and keeps the order', async () => {
  const clients = await Promise.all(['a', 'b', 'c'].map((name) => applicationAt(`${path}-${name}`)));
  const user = await users();
  let turn = 0;
  for (const name of ['a', 'b', 'c'])
    receivers.answer(`${path}-${name}`, () => (turn++ % 3 === 0 ? 500 : 204));
  let notifier = await notify();
  for (let round = 0; round < 5; round += 1) {
    for (const client of clients)
      for (const part of ['x', 'y'])
        await revoke(await tokenFor(client, user, { instance_name: `${round}${part}` }));
    await notifier.stop('SIGKILL');
    notifier = await notify();
    for (const { clientId } of clients) await assent(`notify resume ${clientId}`);
  }
  const wanted = ['0x', '0y', '1x', '1y', '2x', '2y', '3x', '3y', '4x', '4y'];
  for (const [index, name] of ['a', 'b', 'c'].entries())
    await expect
      .poll(
        async () => {
          await assent(`notify resume ${clients[index]?.clientId}`);
          return receivers.acceptedAt(`${path}-${name}`).map(({ data }) => data.instance_name);
        },
        { timeout: 60_000 },
      )
      .toEqual(wanted);
});

it('what an open transaction has held back is told once, in order, when it ends', async () => {
  const client = await applicationAt(path);
  const user = await users();
  const { pool } = server.database;
  const tokens: string[] = [];
  for (const instance_name of ['one', 'two', 'three'])
    tokens.push(await tokenFor(client, user, { instance_name }));
  await tokenFor(client, user, { instance_name: 'last' });
  await notify();
  const looks = async () =>
    (
      await pool.query(
        `select seq_scan + coalesce(idx_scan, 0) as looks from pg_stat_user_tables where relname = 'notify_cursors'`,
      )
    ).rows[0].looks;
  await expect.poll(async () => (await pool.query('select from notify_cursors')).rowCount).toBe(1);
  await transaction(pool, async (connection) => {
    // It has the lowest number of all, and writes last.
    await connection.query('select pg_current_xact_id()');
    for (const token of tokens) await revoke(token);
    const before = Number(await looks());
    await expect.poll(async () => Number(await looks())).toBeGreaterThan(before + 5);
    expect(receivers.deliveries.filter((one) => one.path === path)).toEqual([]);
    await connection.query(
      `insert into audit_events (kind, grant_id, user_id, client_id, instance_name)
       select 'revoked_by_operator', grant_id, user_id, client_id, instance_name from grants
        where user_id = $1 and instance_name = 'last'`,
      [user.userId],
    );
  });
  const names = () =>
    receivers.deliveries
      .filter((one) => one.path === path)
      .map(({ body }) => JSON.parse(body).data.instance_name);
  await expect.poll(names).toEqual(['one', 'two', 'three', 'last']);
  // What comes next is told after all repetitions.
  await revoke(await tokenFor(client, user, { instance_name: 'next' }));
  await expect.poll(() => names().at(-1)).toBe('next');
  expect(names()).toEqual(['one', 'two', 'three', 'last', 'next']);
});

it('one process notifies at a time; another waits for its end', async () => {
  const first = await notify();
  const second = await notify({}, 'waiting for the end of another process');
  expect(second.log()).not.toContain('"notifying"');
  expect(await first.stop()).toBe(0);
  await expect.poll(second.log, { timeout: 20_000 }).toContain('"notifying"');
});
