import { createHash } from 'node:crypto';
import { hashSync as hashArgon2 } from '@node-rs/argon2';
import { hashSync } from '@node-rs/bcrypt';
import { Piscina } from 'piscina';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { signInStep, signIn as signInVerb } from '../../src/flows/signIn/signIn.ts';
import { isOwn, readHash } from '../../src/secrets/foreignHash.js';
import { findForeignDecoyHash } from '../../src/store/account/passwords.ts';
import { findUser } from '../../src/store/common/users.ts';
import type { Database } from '../../src/store/database/database.ts';
import { doctor } from '../processes/findings.ts';
import { countChecks, type Task } from '../secrets/counting.ts';
import file from '../secrets/foreignHashes.json' with { type: 'json' };
import { decide, reachConsent, requestOf, trySignIn } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { newSecret } from '../support/ledger.ts';
import { setPasswords } from '../support/operators.ts';
import { ownDatabase } from '../support/postgres/database.ts';
import { doingBefore, intercept } from '../support/postgres/intercept.ts';
import { onDatabase } from '../support/process/process.ts';
import { CALLER, type TestServer, type TestUser, useServer } from '../support/server.ts';
import { setUserStatus } from '../support/state.ts';

const server = await useServer();
const { pool } = server.database;
afterEach(() => void vi.restoreAllMocks());

const foreign = (password: string) => hashSync(password, 4);
const KINDS = { password: 'password_hash', payment: 'payment_password_hash' } as const;

async function store(login: string, kind: keyof typeof KINDS, hash: string | null, at = server) {
  await at.database.pool.query(`update users set ${KINDS[kind]} = $2 where login = $1`, [login, hash]);
}

async function storedOf({ login }: TestUser, at = server) {
  const { passwordHash = null, paymentPasswordHash = null } = (await findUser(at.database.pool, login)) ?? {};
  return { password: passwordHash ?? '', payment: paymentPasswordHash ?? '' };
}

/** A user with the hash of another service, for the password or the payment password. */
async function importedUser(kind: keyof typeof KINDS = 'password', at = server): Promise<TestUser> {
  const user = await at.createUser();
  const typed = kind === 'password' ? user.password : (user.paymentPassword ?? '');
  await store(user.login, kind, foreign(typed), at);
  return user;
}

const tryToSignIn = (login: string, password: string, at = server) =>
  trySignIn(new Agent(at.baseUrl), login, password);

describe('a user with an imported hash', () => {
  // Without those of more than 99,999 rounds, which test/secrets/foreignHash.test.ts verifies: a sign-in has a deadline.
  const ofEachForm = new Map(
    file.vectors
      .filter(({ given, password }) => Buffer.byteLength(password) <= 72 && !/\$(i=)?\d{6}/.test(given))
      .map((vector) => [vector.given.replace(/\$[^$]*\$[^$]*$/, ''), vector]),
  );

  it.each([...ofEachForm.values()])(
    'signs in, and has a hash of Assent afterwards: $origin, $made',
    async (vector) => {
      const user = await server.createUser();
      const { hash } = { hash: '', ...readHash(vector.given) };
      await store(user.login, 'password', hash);
      expect(await tryToSignIn(user.login, 'wrong')).toBe('wrong');
      expect((await storedOf(user)).password).toBe(hash);
      expect(await tryToSignIn(user.login, vector.password)).toBe('right');
      const renewed = (await storedOf(user)).password;
      expect(isOwn(renewed)).toBe(true);
      expect(await tryToSignIn(user.login, vector.password)).toBe('right');
      expect((await storedOf(user)).password).toBe(renewed);
    },
  );

  it.each(['', '{bcrypt}'])(
    'keeps the bcrypt hash of a long password, whose end is not compared (prefix: %j)',
    async (label) => {
      const user = await server.createUser();
      const password = newSecret() + newSecret();
      const given = label + foreign(password);
      await store(user.login, 'password', given);
      for (const typed of [password, `${password}-`])
        expect(await tryToSignIn(user.login, typed)).toBe('right');
      expect((await storedOf(user)).password).toBe(given);
    },
  );

  it('signs in with an unnormalized password, even if the hash has Assent’s own parameters', async () => {
    const { login } = await server.createUser();
    const typed = 'cafe\u0301 of old';
    // Cheap, under the label of the real one: see `cheapPasswords.mjs`.
    const salt = Buffer.from('cheap hashes16 b');
    const cheap = hashArgon2(typed, { memoryCost: 64, timeCost: 1, parallelism: 1, salt });
    await store(login, 'password', cheap.replace('$m=64,t=1,p=1$', '$m=19456,t=2,p=1$'));
    expect(await tryToSignIn(login, typed)).toBe('right');
    expect(await tryToSignIn(login, 'wrong')).toBe('wrong');
  });

  it('confirms a payment, and has a payment hash of Assent afterwards', async () => {
    const [user, client] = [await importedUser('payment'), await server.createClient()];
    const [agent, before] = [new Agent(server.baseUrl), server.logLines.length];
    const fields = requestOf(client, { scope: 'payment-shop.limit(7,1500)' });
    const consent = await reachConsent(agent, fields, user);
    expect((await decide(agent, consent, 'allow')).location).toContain('code=');
    expect(isOwn((await storedOf(user)).payment)).toBe(true);
    expect(server.logLines.slice(before).join()).not.toContain('wrong_password');
  });
});

describe('the replacement of a hash', () => {
  const { formToken, newCookie } = signInStep(server.context, null, null);
  const cookies = { session: null, preLogin: newCookie, device: null, seen: null, language: null };

  /** Signs in, and does `first` between the check of the password and the write of its new hash. */
  const signInAfter = ({ login, password }: TestUser, first: () => Promise<unknown>) => {
    const db = doingBefore(pool, 'user-renew-hash', first);
    const sent = { formToken, authorizationRequest: null, login, password };
    return signInVerb({ ...server.context, db }, sent, cookies, CALLER);
  };

  const another = newSecret();

  const passwords = { password: another, paymentPassword: null };
  const CHANGES: Record<string, (login: string) => Promise<unknown>> = {
    'has another password': (login) => setPasswords(pool, login, passwords, 'tests'),
    'has another password with an imported hash': (login) => store(login, 'password', foreign(another)),
    'has no password': (login) => store(login, 'password', null),
    'is blocked': (login) => setUserStatus(server, login, 'blocked'),
  };

  it.each(Object.entries(CHANGES))('and the sign-in fail if the user now %s', async (now, change) => {
    const user = await importedUser();
    let there: unknown;
    const first = async () => {
      await change(user.login);
      there = await storedOf(user);
    };
    expect(await signInAfter(user, first)).toEqual({ outcome: 'wrong' });
    expect(await storedOf(user)).toEqual(there);
    expect(await tryToSignIn(user.login, user.password)).toBe('wrong');
    if (now.includes('another')) expect(await tryToSignIn(user.login, another)).toBe('right');
  });
});

it('an unreadable hash counts as a wrong password, with a warning that names the user and not the hash', async () => {
  const before = server.logLines.length;
  const users: string[] = [];
  for (const hash of [
    foreign('x').slice(0, -1),
    '$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0$',
    'a secret',
    '',
  ]) {
    const user = await server.createUser();
    users.push(user.userId);
    await store(user.login, 'password', hash);
    for (const password of [user.password, '']) expect(await tryToSignIn(user.login, password)).toBe('wrong');
    expect((await storedOf(user)).password).toBe(hash);
    for (const line of server.logLines.slice(before)) if (hash !== '') expect(line).not.toContain(hash);
  }
  const lines = server.logLines.slice(before).map((line) => JSON.parse(line));
  const warnings = lines.filter(({ level }) => level === 40);
  expect(warnings).toMatchObject([{ user_id: users[0], msg: expect.stringContaining("hash can't be read") }]);
});

/** The tasks that the threads get for failed sign-ins with these logins. */
async function tasksOf(at: TestServer, logins: readonly string[], password = 'wrong'): Promise<Task[]> {
  const run = vi.spyOn(Piscina.prototype, 'run');
  for (const login of logins) expect(await tryToSignIn(login, password, at)).toBe('wrong');
  const tasks = run.mock.calls.flatMap(([task, { name = '' } = {}]) =>
    name === 'verify' ? [task as Task] : [],
  );
  run.mockRestore();
  return tasks;
}

it('the work for a wrong password is the same for every login while there are imported hashes [foreignHashes-1]', async () => {
  const at = await useServer();
  const logins = [(await importedUser('password', at)).login];
  for (const change of [
    () => {},
    (login: string) => setUserStatus(at, login, 'blocked'),
    (login: string) => store(login, 'password', null, at),
    (login: string) => store(login, 'password', 'cut off', at),
  ]) {
    const { login } = await at.createUser();
    await change(login);
    logins.push(login);
  }
  logins.push('unknown', 'unknown too');
  const done = await countChecks(await tasksOf(at, logins));
  expect(done.map(({ cost }) => cost)).toEqual(logins.map(() => ['argon2', 'bcrypt']));
  const spelt = await countChecks(await tasksOf(at, logins.slice(0, 3), 'cafe\u0301'));
  const twice = ['argon2', 'argon2', 'bcrypt', 'bcrypt'];
  expect(spelt.map(({ cost }) => cost)).toEqual([twice, twice, twice]);
});

describe('imported hashes', () => {
  const FORMS = ['$2b$04$', '$2b$05$', '$2y$04$'];
  const HASHES = FORMS.map((form) => `${form}${'a'.repeat(21)}u${'a'.repeat(31)}`);
  const [OFTEN = '', SELDOM = ''] = HASHES;
  const OWN = `$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$${'A'.repeat(43)}`;

  /** A database with `own` users of ours, and 100 for each of the hashes. */
  async function crowdedDatabase(hashes = HASHES, own = 0) {
    const database = await ownDatabase();
    await database.pool.query(
      `insert into users (login, login_key, name, password_hash)
       select 'u' || n, 'u' || n, 'U', coalesce(($1::text[])[1 + (n - 1) / 100], $2) from generate_series(1, $3::int) n`,
      [hashes, OWN, 100 * hashes.length + own],
    );
    await database.pool.query('analyze users');
    return database;
  }

  /** The hashes that are found from points spread evenly over the ids of users, as logins lead to. */
  async function foundIn(db: Database) {
    const found = [];
    for (let n = 1; n < 256; n += 2) {
      const at = n.toString(16).padStart(2, '0').padEnd(32, '0');
      found.push((await findForeignDecoyHash(db, { at }))?.hash);
    }
    return found;
  }

  it('have decoys with the same mix of hash formats, found by indexes', async () => {
    const tens = Array.from({ length: 100 }, (_, n) => (n % 10 < 2 ? SELDOM : OFTEN));
    const { pool: crowded } = await crowdedDatabase(tens, 10_000);
    const plans = new Set<string>();
    const explaining = intercept(crowded, async ({ name, text = '', values = [] }, run) => {
      if (name === 'user-find-foreign-hash') {
        const { rows } = await crowded.query(`explain (costs off) ${text.replace('$1', `'${values[0]}'`)}`);
        plans.add(rows.map((row) => row['QUERY PLAN'].replace(/'.*'/, '')).join('\n'));
      }
      return run();
    });
    const found = await foundIn(explaining);
    const share = found.filter((hash) => hash === SELDOM).length / found.length;
    // About 26 of 128 draws.
    expect(share).toBeGreaterThan(0.05);
    expect(share).toBeLessThan(0.45);
    expect(new Set(found)).toEqual(new Set([OFTEN, SELDOM]));
    for (const plan of plans) {
      expect(plan).toContain('users_pkey');
      expect(plan).toContain('Index Scan using users_foreign_hash_idx');
      expect(plan).not.toContain('Seq Scan');
    }
  });

  it('have decoys of every hash format, each stable for a login and readable', async () => {
    // A fixed secret and fixed ids of users: with random ones, one form would be missing once in 200 runs.
    const at = await useServer({ secrets: [createHash('sha256').update('points').digest('hex')] });
    await at.database.pool.query(
      `insert into users (user_id, login, login_key, name, password_hash)
       select rpad(lpad(to_hex(4 * n), 2, '0'), 32, '0')::uuid, 'u' || n, 'u' || n, 'U', ($1::text[])[1 + n % 4]
         from generate_series(0, 63) n`,
      [[...HASHES, '$2b$99$unreadable']],
    );
    const logins = Array.from({ length: 20 }, (_, n) => `login ${n}`);
    const decoys = async () => (await tasksOf(at, logins)).map(({ foreign }) => foreign);
    const first = await decoys();
    expect(new Set(first)).toEqual(new Set(HASHES));
    expect(await decoys()).toEqual(first);
  });

  it('are looked up once a minute while there are none; a wrong password then costs one check', async () => {
    const at = await useServer();
    const own = (await at.createUser()).login;
    const done = await countChecks(await tasksOf(at, [own, 'unknown']));
    expect(done.map(({ cost }) => cost)).toEqual([['argon2'], ['argon2']]);
    const decoys = async () => (await tasksOf(at, ['unknown'])).map(({ foreign }) => foreign);
    const now = performance.now.bind(performance);
    let later = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now() + later);
    expect(await decoys()).toEqual([null]);
    const user = await importedUser('password', at);
    later = 50_000;
    expect(await decoys()).toEqual([null]);
    later = 61_000;
    expect(await decoys()).toEqual([(await storedOf(user, at)).password]);
  });

  it('are counted and accepted by the doctor, unlike unreadable ones', async () => {
    const database = await crowdedDatabase();
    const passwordsIn = async (...args: string[]) => {
      const { findings } = await doctor(onDatabase(database.url), ...args);
      return findings.filter(({ check }) => ['passwords', 'password_hashes'].includes(check));
    };
    const left = FORMS.map((form) => {
      const text = `100 passwords have a hash of an earlier service (${form.slice(0, -1)})`;
      return { check: 'passwords', level: 'ok', text, remedy: null };
    });
    expect(await passwordsIn()).toEqual(left);
    expect(await passwordsIn('--invariants')).toMatchObject([{ check: 'password_hashes', level: 'ok' }]);
    for (const secret of ['a secret in clear', 'pbkdf2_sha256$secret', '{noop}secret', '$scrypt$secret']) {
      await database.pool.query(`update users set payment_password_hash = $1 where login = 'u1'`, [secret]);
      const found = await passwordsIn();
      const text = '1 password has a hash in an unknown form';
      expect(found.at(-1)).toMatchObject({ level: 'advice', text });
      expect(JSON.stringify(found)).not.toContain('secret');
    }
  });
});
