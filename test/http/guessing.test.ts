import { beforeAll, describe, expect, it } from 'vitest';
import { Agent, type Answer } from '../support/agent.ts';
import { reachConsent, requestOf, signIn } from '../support/flow.ts';
import { type TestClient, type TestUser, useServer } from '../support/server.ts';

// Addresses are what the trusted proxy says, so that one test can be many people in many places.
const server = useServer({ trustProxy: 1 });
let client: TestClient;

beforeAll(async () => {
  client = await server.createClient();
});

const FREE_TRIES = 5;

/** Somebody at an address, with a browser of their own. */
function at(address: string): Agent {
  return new Agent(server.baseUrl, { 'x-forwarded-for': address });
}

/** Tries a password; each try from a fresh browser, as somebody who guesses does. */
function guess(address: string, login: string, password = 'wrong'): Promise<Answer> {
  return signIn(at(address), login, password);
}

async function guessTimes(times: number, address: string, login: string): Promise<number[]> {
  const statuses = [];
  for (let n = 0; n < times; n += 1) statuses.push((await guess(address, login)).status);
  return statuses;
}

/** Lets the time that a counter knows of go by. */
async function passTime(interval: string): Promise<void> {
  await server.database.pool.query(
    `update throttles set counted_at = counted_at - $1::interval, free_at = free_at - $1::interval`,
    [interval],
  );
}

/** Makes every wait that has begun last 25 seconds from now, however slow this machine is. */
async function lengthenWaits(): Promise<void> {
  await server.database.pool.query(
    `update throttles set free_at = clock_timestamp() + interval '25 seconds' where free_at > counted_at`,
  );
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
/** An address that nobody used before. */
function newPlace(): string {
  places += 1;
  return `198.51.${Math.floor(places / 250)}.${(places % 250) + 1}`;
}

describe('guessing a password', () => {
  let victim: TestUser;
  beforeAll(async () => {
    victim = await server.createUser();
  });

  it('is told to wait after five tries, also with the right password, and says for how long', async () => {
    const place = newPlace();
    expect(await guessTimes(FREE_TRIES, place, victim.login)).toEqual([422, 422, 422, 422, 422]);
    await lengthenWaits();
    const answer = await guess(place, victim.login, victim.password);
    expect([answer.status, answer.page]).toEqual([429, 'sign-in']);
    expect(answer.text).toMatch(/Too many tries\. Wait \d+ seconds and try again\./);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(answer.body).toContain(`value="${victim.login}"`);
    expect(answer.headers.getSetCookie().join()).not.toContain('session');
  });

  it('is the same for a login that nobody has and for a blocked one', async () => {
    const blocked = await server.createUser();
    await server.database.pool.query(`update users set status = 'blocked' where login = $1`, [blocked.login]);
    const texts = [];
    for (const login of [victim.login, 'nobody-has-this-login', blocked.login]) {
      const place = newPlace();
      expect(await guessTimes(FREE_TRIES, place, login)).toEqual([422, 422, 422, 422, 422]);
      await lengthenWaits();
      const { status, text } = await guess(place, login);
      texts.push([status, text.replace(/\d+ seconds/, '')]);
    }
    expect(new Set(texts.map((text) => JSON.stringify(text))).size).toBe(1);
    expect(texts[0]?.[0]).toBe(429);
  });

  it('waits twice as long each time, up to a quarter of an hour', async () => {
    const [place, { login }] = [newPlace(), await server.createUser()];
    await guessTimes(FREE_TRIES - 1, place, login);
    const waits = [];
    for (let n = 0; n < 12; n += 1) {
      expect((await guess(place, login)).status).toBe(422);
      const { rows } = await server.database.pool.query<{ seconds: number }>(
        `select extract(epoch from max(free_at - counted_at))::int as seconds from throttles
          where counted_at = (select max(counted_at) from throttles)`,
      );
      waits.push(rows[0]?.seconds);
      await server.database.pool.query('update throttles set free_at = counted_at');
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
  });

  it('does not wait longer because somebody hammers at the door meanwhile', async () => {
    const [place, { login }] = [newPlace(), await server.createUser()];
    await guessTimes(FREE_TRIES, place, login);
    await lengthenWaits();
    expect(new Set(await guessTimes(20, place, login))).toEqual(new Set([429]));
    await passTime('1 minute');
    expect((await guess(place, login)).status).toBe(422);
  });

  it('begins anew after a right password, and forgets with time', async () => {
    const [place, user] = [newPlace(), await server.createUser()];
    await guessTimes(FREE_TRIES - 1, place, user.login);
    expect((await guess(place, user.login, user.password)).status).toBe(303);
    expect(await guessTimes(FREE_TRIES, place, user.login)).toEqual([422, 422, 422, 422, 422]);
    await lengthenWaits();
    expect((await guess(place, user.login)).status).toBe(429);
    await passTime('1 hour');
    expect(await guessTimes(FREE_TRIES, place, user.login)).toEqual([422, 422, 422, 422, 422]);
  });

  it('is counted however the login is spelled', async () => {
    const [place, { login }] = [newPlace(), await server.createUser()];
    await guessTimes(3, place, login);
    await guessTimes(2, place, login.toUpperCase());
    await lengthenWaits();
    expect((await guess(place, `\u200b${login}`)).status).toBe(429);
  });

  it('gets no further with a hundred tries at once', async () => {
    const [place, user] = [newPlace(), await server.createUser()];
    await server.database.pool.query(LONG_WAITS);
    const pages = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const agent = at(place);
        return { agent, page: await agent.get('/account') };
      }),
    );
    const answers = await Promise.all(
      pages.map(({ agent, page }) => agent.submit(page, 'login', { login: user.login, password: 'wrong' })),
    );
    await server.database.pool.query('drop function lengthen cascade');
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 422)).toHaveLength(FREE_TRIES);
    expect(statuses.filter((status) => status === 429)).toHaveLength(100 - FREE_TRIES);
  });

  it('is counted by the proxy’s word only as far as the proxy is trusted', async () => {
    const { login } = await server.createUser();
    const statuses = [];
    // The last address is what the proxy saw; what stands before it, anybody may have sent.
    for (let n = 1; n <= 6; n += 1) {
      if (n === 6) await lengthenWaits();
      statuses.push((await guess(`203.0.113.${n}, 198.18.0.1`, login)).status);
    }
    expect(statuses).toEqual([422, 422, 422, 422, 422, 429]);
  });

  it('is counted for a whole IPv6 network of one subscriber', async () => {
    const { login } = await server.createUser();
    const statuses = [];
    for (let n = 1; n <= 6; n += 1) {
      if (n === 6) await lengthenWaits();
      statuses.push((await guess(`2001:db8:7:${n}::${n}`, login)).status);
    }
    expect(statuses).toEqual([422, 422, 422, 422, 422, 429]);
    expect((await guess('2001:db8:8::1', login)).status).toBe(422);
  });
});

describe('a stranger who guesses at somebody’s login', () => {
  it('does not hold up the person at another address', async () => {
    const user = await server.createUser();
    await guessTimes(15, newPlace(), user.login);
    expect((await guess(newPlace(), user.login, user.password)).status).toBe(303);
  });

  it('gets short waits for everybody from many addresses, but not where the person has signed in before', async () => {
    const [home, user] = [newPlace(), await server.createUser()];
    expect((await guess(home, user.login, user.password)).status).toBe(303);
    const statuses = [];
    for (let n = 0; n < 20; n += 1) statuses.push((await guess(newPlace(), user.login)).status);
    expect(new Set(statuses)).toEqual(new Set([422]));
    await lengthenWaits();
    const elsewhere = await guess(newPlace(), user.login, user.password);
    expect(elsewhere.status).toBe(429);
    expect(Number(elsewhere.headers.get('retry-after'))).toBeLessThanOrEqual(30);
    expect((await guess(home, user.login, user.password)).status).toBe(303);
  });

  it('who guesses at many logins from one address is slowed down, but not the person who has signed in there', async () => {
    const [place, user] = [newPlace(), await server.createUser()];
    expect((await guess(place, user.login, user.password)).status).toBe(303);
    expect((await guess(place, 'first-of-many')).status).toBe(422);
    // A thousand failures, without waiting for a thousand of them.
    await server.database.pool.query(
      `update throttles set level = 1000 where counted_at = (select max(counted_at) from throttles) and level > 0`,
    );
    await guess(place, 'second-of-many');
    await lengthenWaits();
    expect((await guess(place, 'third-of-many')).status).toBe(429);
    expect((await guess(place, user.login, user.password)).status).toBe(303);
  });
});

describe('guessing a payment password', () => {
  it('is counted apart from the password, and told to wait in the same way', async () => {
    const [place, user] = [newPlace(), await server.createUser()];
    const agent = at(place);
    await guessTimes(FREE_TRIES - 1, place, user.login);
    const fields = requestOf(client, { scope: 'payment-shop' });
    const request = await agent.post('/oauth/authorize', fields);
    const page = await agent.get(request.location ?? '');
    const payment = await agent.get(
      (await agent.submit(page, 'login', { login: user.login, password: user.password })).location ?? '',
    );
    expect(payment.page).toBe('payment-password');
    const tries = [];
    for (let n = 0; n <= FREE_TRIES; n += 1) {
      if (n === FREE_TRIES) await lengthenWaits();
      tries.push(await agent.submit(payment, 'payment_password', { payment_password: 'wrong' }));
    }
    expect(tries.map(({ status }) => status)).toEqual([422, 422, 422, 422, 422, 429]);
    const right = { payment_password: user.paymentPassword ?? '' };
    expect((await agent.submit(payment, 'payment_password', right)).status).toBe(429);
    expect((await guess(place, user.login, user.password)).status).toBe(303);
    await passTime('1 minute');
    expect((await agent.submit(payment, 'payment_password', right)).status).toBe(303);
    await reachConsent(agent, fields, user);
  });
});

describe('the counters', () => {
  it('hold no login, and are swept when they are forgotten', async () => {
    const login = 'a-password-typed-into-the-wrong-field';
    await guess(newPlace(), login);
    const dump = `select coalesce(string_agg(t::text, ''), '') as text from throttles t`;
    const { rows } = await server.database.pool.query<{ text: string }>(dump);
    expect(rows[0]?.text).not.toContain(login);
    expect(rows[0]?.text).not.toContain(Buffer.from(login).toString('hex'));
    await server.database.pool.query(
      `update throttles set forget_at = clock_timestamp() - interval '1 second'`,
    );
    const count = 'select count(*)::int as count from throttles';
    const before = (await server.database.pool.query<{ count: number }>(count)).rows[0]?.count ?? 0;
    await guess(newPlace(), 'somebody-else');
    const after = (await server.database.pool.query<{ count: number }>(count)).rows[0]?.count ?? 0;
    expect(after).toBeLessThan(before);
  });
});
