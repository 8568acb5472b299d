import { EventEmitter, once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Piscina } from 'piscina';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { OverloadedError } from '../../../src/rules/common/error.ts';
import { verifyPassword, waitingChecks } from '../../../src/secrets/password.ts';
import {
  confirm,
  obtainCode,
  pageAfter,
  press,
  reachConsent,
  requestOf,
  signIn,
  tokenRequestOf,
  trySignIn,
  type Verdict,
  verdictOn,
} from '../../support/flow.ts';
import { Agent, type Answer } from '../../support/http/agent.ts';
import { newSecret } from '../../support/ledger.ts';
import { setPasswords } from '../../support/operators.ts';
import { commandsOn } from '../../support/process/commands.ts';
import { onDatabase } from '../../support/process/process.ts';
import { type TestUser, useServer } from '../../support/server.ts';
import { setUserStatus } from '../../support/state.ts';

// A trusted proxy names the address, so each test can act for many people in many places.
const server = await useServer({ trustProxy: 1 });

const { pool } = server.database;
const client = await server.createClient();

const FREE_TRIES = 5;

const at = (address: string) => new Agent(server.baseUrl, { 'x-forwarded-for': address });

const guess = (address: string, login: string, password = 'wrong') => trySignIn(at(address), login, password);

async function pageOfGuess(address: string, login: string, password: string): Promise<Answer> {
  const agent = at(address);
  return pageAfter(agent, await signIn(agent, login, password));
}

async function guessTimes(times: number, address: string, login: string): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (let n = 0; n < times; n += 1) verdicts.push(await guess(address, login));
  return verdicts;
}

const USED_UP = ['wrong', 'wrong', 'wrong', 'wrong', 'wrong'];

/** Uses them up, and makes the wait long. */
async function useUp(address: string, login: string): Promise<void> {
  expect(await guessTimes(FREE_TRIES, address, login)).toEqual(USED_UP);
  await lengthenWaits();
}

/** Expects the free tries and one more, before which the wait is made long. */
async function expectThrottled(attempt: (n: number) => Promise<Verdict>): Promise<void> {
  for (let n = 0; n < FREE_TRIES; n += 1) expect(await attempt(n)).toBe('wrong');
  await lengthenWaits();
  expect(await attempt(FREE_TRIES)).toBe('wait');
}

const passTime = (interval: string) =>
  pool.query(
    `update throttles set counted_at = counted_at - $1::interval, free_at = free_at - $1::interval`,
    [interval],
  );

/** Makes every wait that has begun last 25 seconds from now, however slow this machine is. */
const lengthenWaits = () =>
  pool.query(
    `update throttles set free_at = clock_timestamp() + interval '25 seconds' where free_at > counted_at`,
  );

/** Makes attempts, and sets the counters that counted them to a thousand failures. @param changes further assignments */
async function countThousand<Result>(attempts: () => Promise<Result>, changes = ''): Promise<Result> {
  const { rows } = await pool.query('select clock_timestamp() as now');
  const result = await attempts();
  await pool.query(`update throttles set level = 1000 ${changes} where counted_at >= $1`, [rows[0].now]);
  return result;
}

/** The same for every wait when it begins. */
const LONG_WAITS = `
create function lengthen() returns trigger language plpgsql as $$
begin
  if new.free_at > new.counted_at then new.free_at := new.counted_at + interval '25 seconds'; end if;
  return new;
end $$;
create trigger lengthen before update on throttles for each row execute function lengthen()`;

let places = 0;
function newPlace(): string {
  places += 1;
  return `198.51.${Math.floor(places / 250)}.${(places % 250) + 1}`;
}

describe('guessing a password', () => {
  it('is throttled after some attempts, also with the right password, and shows the wait time [guessing-1]', async () => {
    const [place, victim] = [newPlace(), await server.createUser()];
    await useUp(place, victim.login);
    const answer = await pageOfGuess(place, victim.login, victim.password);
    expect([answer.status, answer.page]).toEqual([429, 'sign-in']);
    expect(answer.text).toMatch(/Too many attempts\. Wait \d+ seconds, then try again\./);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(answer.body).toContain(`value="${victim.login}"`);
    expect(answer.headers.getSetCookie().join()).not.toContain('session');
  });

  it('is not counted if the password is right, and is forgotten after an hour', async () => {
    const [place, user] = [newPlace(), await server.createUser()];
    await guessTimes(FREE_TRIES - 1, place, user.login);
    // Otherwise the number of tries left would tell a neighbour about a sign-in.
    for (let n = 0; n < 3; n += 1) expect(await guess(place, user.login, user.password)).toBe('right');
    expect(await guess(place, user.login)).toBe('wrong');
    await lengthenWaits();
    expect(await guess(place, user.login)).toBe('wait');
    await passTime('1 hour');
    expect(await guessTimes(FREE_TRIES, place, user.login)).toEqual(USED_UP);
  });

  it('is limited to the same number of attempts even if many are sent at once [guessing-2]', async () => {
    const [place, user] = [newPlace(), await server.createUser()];
    await pool.query(LONG_WAITS);
    const pages = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const agent = at(place);
        return { agent, page: await agent.get('/oauth/account') };
      }),
    );
    const answers = await Promise.all(
      pages.map(({ agent, page }) => agent.submit(page, 'login', { login: user.login, password: 'wrong' })),
    );
    await pool.query('drop function lengthen cascade');
    const shown = await Promise.all(pages.map(({ agent }, n) => verdictOn(agent, answers[n] as Answer)));
    expect(shown.filter((verdict) => verdict === 'wrong')).toHaveLength(FREE_TRIES);
    expect(shown.filter((verdict) => verdict === 'wait')).toHaveLength(100 - FREE_TRIES);
  });

  it('also counts right passwords of a blocked user, so that the wait does not reveal the block', async () => {
    const [place, { login, password }] = [newPlace(), await server.createUser()];
    await setUserStatus(server, login, 'blocked');
    await expectThrottled(() => guess(place, login, password));
  });

  const COUNTING: Record<string, (n: number, login: string) => Promise<Verdict>> = {
    'is counted together for all spellings of a login [guessing-3]': (n, login) =>
      guess('198.18.0.2', n % 2 === 0 ? login.toUpperCase() : `\u200b${login}`),
    // The proxy adds the last address; the caller may have sent those before it.
    'is counted by X-Forwarded-For only from trusted proxies [guessing-4]': (n, login) =>
      guess(`203.0.113.${n}, 198.18.0.1`, login),
    'is counted together for an IPv6 network of one subscriber [guessing-5]': (n, login) =>
      guess(`2001:db8:7:${n}::${n}`, login),
  };

  it.each(Object.entries(COUNTING))('%s', async (_title, attempt) => {
    const { login } = await server.createUser();
    await expectThrottled((n) => attempt(n, login));
    expect(await guess('2001:db8:8::1', login)).toBe('wrong');
  });
});

describe('a stranger guessing the password of another user', () => {
  it('causes only short waits for new devices when guessing from many addresses', async () => {
    const user = await server.createUser();
    const verdicts = [];
    for (let n = 0; n < 20; n += 1) verdicts.push(await guess(newPlace(), user.login));
    expect(new Set(verdicts)).toEqual(new Set(['wrong']));
    await lengthenWaits();
    const elsewhere = await pageOfGuess(newPlace(), user.login, user.password);
    expect(elsewhere.status).toBe(429);
    expect(Number(elsewhere.headers.get('retry-after'))).toBeLessThanOrEqual(30);
  });

  it('is slowed down when guessing for many logins from one address', async () => {
    const [place, user] = [newPlace(), await server.createUser()];
    expect(await countThousand(() => guess(place, 'first-of-many'))).toBe('wrong');
    await guess(place, 'second-of-many');
    await lengthenWaits();
    expect(await guess(place, user.login, user.password)).toBe('wait');
  });
});

describe('a known device', () => {
  /** A browser in which the user signed in, and whose session then ended. */
  async function knownDevice(address: string, user: TestUser): Promise<Agent> {
    const agent = at(address);
    expect(await trySignIn(agent, user.login, user.password)).toBe('right');
    agent.cookies.delete('assent_session');
    return agent;
  }

  it('can sign in each of its users, however often other devices at its address guess [guessing-6]', async () => {
    const [home, user, other] = [newPlace(), await server.createUser(), await server.createUser()];
    const device = await knownDevice(home, user);
    const signsIn = async ({ login, password }: TestUser) => {
      expect(await trySignIn(device, login, password)).toBe('right');
      device.cookies.delete('assent_session');
    };
    await signsIn(other);
    for (const { login } of [user, other]) await guessTimes(FREE_TRIES, home, login);
    for (let n = 0; n < 20; n += 1) await guess(newPlace(), user.login);
    await lengthenWaits();
    expect(await guess(newPlace(), user.login, user.password)).toBe('wait');
    for (const each of [user, other]) {
      expect(await guess(home, each.login, each.password)).toBe('wait');
      await signsIn(each);
    }
  });

  it('has its own attempt counter, separate from all others', async () => {
    const [home, user] = [newPlace(), await server.createUser()];
    const device = await knownDevice(home, user);
    await expectThrottled(() => trySignIn(device, user.login, 'wrong'));
    expect(await guess(home, user.login, user.password)).toBe('right');
  });

  it('is not recognised for another login, with a changed or expired cookie, or after a password change [guessing-7]', async () => {
    const [user, neighbour] = [await server.createUser(), await server.createUser()];
    const home = newPlace();
    await useUp(home, user.login);
    const foreign = await knownDevice(home, neighbour);
    expect(await trySignIn(foreign, user.login, user.password)).toBe('wait');

    const cookie = (await knownDevice(newPlace(), user)).cookies.get('assent_device') ?? '';
    const verdictWith = async (device: string, password = user.password) => {
      const agent = at(home);
      agent.cookies.set('assent_device', device);
      return trySignIn(agent, user.login, password);
    };
    for (const changed of [`${cookie}A`, cookie.slice(0, -2), cookie.replace(/^.{9}./, '$&A'), ''])
      expect(await verdictWith(changed)).toBe('wait');
    vi.useFakeTimers({ now: Date.now() + 91 * 24 * 60 * 60 * 1000, toFake: ['Date'] });
    expect(await verdictWith(cookie)).toBe('wait');
    vi.useRealTimers();
    expect(await verdictWith(cookie)).toBe('right');
    const changed = { password: newSecret(), paymentPassword: null };
    await setPasswords(pool, user.login, changed, 'tests');
    expect(await verdictWith(cookie, changed.password)).toBe('wait');
  });

  it('has a host-only cookie that scripts can’t read, renewed at each sign-in', async () => {
    const user = await server.createUser();
    const cookieAfter = async (password = user.password) => {
      const { headers } = await signIn(at(newPlace()), user.login, password);
      return headers.getSetCookie().find((line) => line.startsWith('assent_device='));
    };
    const first = await cookieAfter();
    expect(first).toMatch(/; Max-Age=7776000; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(await cookieAfter()).not.toBe(first);
    expect(await cookieAfter('wrong')).toBeUndefined();
  });
});

it('the throttle does not reveal at a shared address who signed in, or which logins exist or are blocked [guessing-8]', async () => {
  const place = newPlace();
  const here = await server.createUser();
  const [elsewhere, blocked] = [await server.createUser(), await server.createUser()];
  expect(await guess(place, here.login, here.password)).toBe('right');
  await setUserStatus(server, blocked.login, 'blocked');
  const seen = [];
  for (const login of [here.login, elsewhere.login, blocked.login, 'nobody-has-this-login']) {
    const answers = await guessTimes(FREE_TRIES, place, login);
    await lengthenWaits();
    const { status, text } = await pageOfGuess(place, login, 'wrong');
    seen.push(JSON.stringify([answers, status, text.replace(/\d+ seconds/, '')]));
    await passTime('1 hour');
  }
  expect(new Set(seen).size).toBe(1);
});

it('a sign-in gets 503 with Retry-After when the queue is full, without counting an attempt', async () => {
  const user = await server.createUser();
  const [crowd, home] = [newPlace(), newPlace()];
  const gate = new EventEmitter();
  const opened = once(gate, 'open');
  const { run } = Piscina.prototype;
  const checks = vi.spyOn(Piscina.prototype, 'run').mockImplementation(async function (
    this: Piscina,
    ...work
  ) {
    if (work[1]?.name === 'verify') await opened;
    return run.apply(this, work);
  });
  onTestFinished(() => checks.mockRestore());
  const ticket = { queue: 'stranger', key: crowd, until: Number.POSITIVE_INFINITY } as const;
  const attempts = Array.from({ length: 101 + availableParallelism() }, () =>
    verifyPassword(null, 'x', ticket).catch((error) => expect(error).toBeInstanceOf(OverloadedError)),
  );
  await expect.poll(() => waitingChecks('stranger')).toBe(100);
  const refused = [];
  for (let n = 0; n <= FREE_TRIES; n += 1) refused.push(await signIn(at(crowd), user.login, user.password));
  gate.emit('open');
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
  expect(refused[0]?.headers.get('retry-after')).toBe('5');
  expect(await guess(home, user.login, user.password)).toBe('right');
  await Promise.all(attempts); // those that still wait would keep the next ones waiting
  expect(await guessTimes(FREE_TRIES, crowd, user.login)).toEqual(USED_UP);
});

describe('guessing a payment password', () => {
  const tryConfirm = async (agent: Agent, page: Answer, paymentPassword: string) =>
    verdictOn(agent, await confirm(agent, page, paymentPassword));

  async function reachPayment(agent: Agent, user: TestUser): Promise<Answer> {
    const consent = await reachConsent(agent, requestOf(client, { scope: 'payment-shop' }), user);
    return pageAfter(agent, await press(agent, consent, 'allow'));
  }

  it('is counted apart from guesses of the password, and throttled in the same way [guessing-9]', async () => {
    const [place, user] = [newPlace(), await server.createUser()];
    const agent = at(place);
    await guessTimes(FREE_TRIES - 1, place, user.login);
    const payment = await reachPayment(agent, user);
    await expectThrottled(() => tryConfirm(agent, payment, 'wrong'));
    const right = user.paymentPassword ?? '';
    expect(await tryConfirm(agent, payment, right)).toBe('wait');
    expect(await guess(place, user.login, user.password)).toBe('right');
    await passTime('1 minute');
    expect(await tryConfirm(agent, payment, right)).toBe('right');
  });

  it('is throttled for a thief of the password, but not on the device of the last confirmation [guessing-10]', async () => {
    const user = await server.createUser();
    const [home, thief] = [at(newPlace()), at(newPlace())];
    await obtainCode(home, requestOf(client, { scope: 'payment-shop' }), user);
    for (let n = 0; n < 4; n += 1) {
      const page = await reachPayment(thief, user);
      expect(await tryConfirm(thief, page, 'wrong')).toBe('wrong');
      thief.cookies.delete('assent_session'); // signs in again: that makes the password's device known, not the other's
    }
    const page = await reachPayment(thief, user);
    await tryConfirm(thief, page, 'wrong');
    await lengthenWaits();
    const right = user.paymentPassword ?? '';
    expect(await tryConfirm(thief, page, right)).toBe('wait');
    expect(await tryConfirm(home, await reachPayment(home, user), right)).toBe('right');
  });
});

const assent = commandsOn(onDatabase(server.database.url));
const waitOf = async ({ login }: TestUser) =>
  (await assent.json<{ wait_seconds: number }>(`user show ${login}`)).wait_seconds;

it('the waits of a user are shown to operators, who end them: on a known device, and in its network', async () => {
  const [user, bystander, place] = [await server.createUser(), await server.createUser(), newPlace()];
  const known = at(newPlace());
  expect(await trySignIn(known, user.login, user.password)).toBe('right');
  known.cookies.delete('assent_session');
  await guessTimes(FREE_TRIES, place, bystander.login);
  for (const attempt of [
    (password: string) => trySignIn(known, user.login, password),
    (password: string) => guess(place, user.login, password),
  ]) {
    expect(await waitOf(user)).toBe(0);
    for (let n = 0; n < FREE_TRIES; n += 1) expect(await attempt('wrong')).toBe('wrong');
    await lengthenWaits();
    expect(await attempt(user.password)).toBe('wait');
    expect(await waitOf(user)).toBeGreaterThan(20);
    expect(await assent.json(`user unblock ${user.login}`)).toMatchObject({ status: 'active' });
    expect(await waitOf(user)).toBe(0);
    for (let n = 0; n < FREE_TRIES - 1; n += 1) expect(await attempt('wrong')).toBe('wrong');
    expect(await attempt(user.password)).toBe('right');
    known.cookies.delete('assent_session');
  }
  expect(await waitOf(bystander)).toBeGreaterThan(20);
  const trail = await assent.json<{ outcome: string }[]>(`audit --login ${user.login}`);
  expect(trail.filter(({ outcome }) => outcome === 'user_unblocked')).toHaveLength(2);
  await assent.assent(`user unblock ${user.login}`); // forgets the last four attempts
  const { stderr } = await assent.assent(`user unblock ${user.login}`);
  expect(stderr).toContain('was already active');
});

describe('the attempt counters', () => {
  const contents = async () =>
    (await pool.query<{ row: string }>('select t::text as row from throttles t order by slot')).rows;

  it('are not written by a throttled attempt, whatever its login [guessing-11]', async () => {
    const [place, { login }] = [newPlace(), await server.createUser()];
    const longWait = `, free_at = clock_timestamp() + interval '25 seconds'`;
    await countThousand(() => guessTimes(FREE_TRIES, place, login), longWait);
    const before = await contents();
    for (let n = 0; n < 30; n += 1)
      expect(await guess(place, n % 2 === 0 ? login : `waiting-${n}`)).toBe('wait');
    expect(await contents()).toEqual(before);
    // Refusals are written in batches, in their order: after this one, those before it are there.
    const refused = await at('192.0.2.1').get('/oauth/authorize?client_id=x');
    const rules = async () => (await pool.query('select reference, rule_id from refusals')).rows;
    const reference = refused.headers.get('x-request-id');
    await expect.poll(rules).toContainEqual(expect.objectContaining({ reference }));
    expect((await rules()).map(({ rule_id }) => rule_id)).not.toContain('too_many_tries');
  });

  it('are rows of a table with a fixed number of slots [guessing-12]', async () => {
    const { rows } = await pool.query<{ most: number; least: number }>(
      'select max(slot) as most, min(slot) as least from throttles',
    );
    expect(rows[0]?.least).toBeGreaterThanOrEqual(0);
    expect(rows[0]?.most).toBeLessThan(5 * 2 ** 18);
  });
});

it('the attempt counters also throttle very many right passwords, to limit audit events [guessing-13]', async () => {
  const [place, user] = [newPlace(), await server.createUser()];
  expect(await guess(place, user.login, user.password)).toBe('right');
  // Sets the latest counter to a thousand failures, without the wait for each.
  await pool.query(
    'update throttles set level = 1000 where slot = (select slot from throttles where level > 0 order by counted_at desc limit 1)',
  );
  expect(await guess(newPlace(), user.login, user.password)).toBe('right');
  await lengthenWaits();
  expect(await guess(newPlace(), user.login, user.password)).toBe('wait');
});

it('the audit trail has every sign-in and approval, and one event of password guessing per hour [guessing-14]', async () => {
  const [place, user] = [newPlace(), await server.createUser()];
  await guessTimes(FREE_TRIES - 1, place, user.login);
  expect(await guess(place, user.login, user.password)).toBe('right');
  await guessTimes(3, place, user.login);
  await passTime('1 minute');
  await guessTimes(2, place, user.login);
  await guessTimes(FREE_TRIES + 2, newPlace(), 'nobody-at-all');
  await passTime('1 hour');
  await obtainCode(at(place), requestOf(client, { scope: 'payment-shop' }), user);
  const { rows } = await pool.query(
    'select kind, address from audit_events where user_id = $1 and operator is null order by at',
    [user.userId],
  );
  const kinds = ['signed_in', 'password_guessed', 'signed_in', 'approved'];
  expect(rows).toEqual(kinds.map((kind) => ({ kind, address: place })));
  const ofUnknown = `select from audit_events where kind = 'password_guessed' and user_id is null`;
  expect((await pool.query(ofUnknown)).rowCount).toBe(0);
});

it('the server limits failures at the token endpoint per address with Retry-After, and still answers valid requests [guessing-15]', async () => {
  const [guesser, elsewhere] = [at(newPlace()), at(newPlace())];
  const wrong = tokenRequestOf(client, 'never issued');
  for (let sent = 0; sent < 1_000; sent += 20) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => guesser.post('/oauth/token', wrong)));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(400));
  }
  const { status, headers, body } = await guesser.post('/oauth/token', wrong);
  expect([status, JSON.parse(body).error]).toEqual([429, 'temporarily_unavailable']);
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'retry-after': expect.stringMatching(/^([1-9]|[1-5]\d|60)$/),
  });
  expect((await elsewhere.post('/oauth/token', wrong)).status).toBe(400);
  const code = await obtainCode(elsewhere, requestOf(client), await server.createUser());
  expect((await guesser.post('/oauth/token', tokenRequestOf(client, code))).status).toBe(200);
});
