import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { afterAll, expect, it, onTestFinished, vi } from 'vitest';
import { type AuditEvent, findAuditEvents } from '../../src/store/operate/auditTrail.ts';
import { Dice } from '../faults/dice.ts';
import { obtainToken } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { ownPool } from '../support/postgres/database.ts';
import { OwnPostgres } from '../support/postgres/ownPostgres.ts';
import { commandsOn } from '../support/process/commands.ts';
import { fileIn, useFolder } from '../support/process/folder.ts';
import { onDatabase, spawnServer, start } from '../support/process/process.ts';
import { openReceivers, verify } from '../support/receivers.ts';
import { createClient, createUser, type TestClient, type TestUser } from '../support/registrations.ts';
import { freePort } from '../support/server.ts';

// `assent notify`, a server and PostgreSQL are killed, while receivers fail at random. 10,500 authorizations end by real requests
// and commands: 9,500 by `POST /api/revoke` at two servers, 500 by `grant revoke` and 500 by `user block`. They begin by
// `grant import`, because as many users in as many browsers would take minutes.

const SEED = '1';
const SHOPS = 20;
/** Authorizations of a user with a shop. */
const INSTANCES = 5;
const USERS = { revoking: 95, revokedByOperator: 5, blocked: 5 } as const;

/** By stage, what is killed in its middle. */
const KILLS = [
  ['notify'],
  ['server'],
  ['postgres'],
  ['notify', 'server'],
  ['notify'],
  ['postgres'],
  ['notify', 'postgres'],
  ['server'],
  ['notify'],
  ['notify'],
] as const;

type Mood = 'well' | 'flaky' | 'down';
/** How a receiver behaves in a stage. */
const MOODS = [
  [2, 'well'],
  [1, 'flaky'],
  [1, 'down'],
] as const satisfies readonly (readonly [number, Mood])[];
/** Of so many first tries in a stage a flaky receiver fails one in three: more would take minutes, since each waits for the next. */
const FLAKY_TRIES = 15;

/** By outcome, what shops are told (docs/integrate/events.md). */
const REASONS: Readonly<Record<string, string>> = {
  approved_again: 'replaced',
  revoked_by_application: 'application',
  revoked_by_operator: 'operator',
  user_blocked: 'user_blocked',
};
/** By outcome, what the wallet is told (docs/operate/notify.md). */
const KINDS: Readonly<Record<string, string>> = {
  approved: 'allowed',
  approved_again: 'replaced',
  revoked_by_application: 'ended',
  revoked_by_operator: 'ended',
  signed_in: 'new_browser',
};
const WALLET = '/wallet';

/** Against hanging only. */
const PATIENCE = { timeout: 300_000, interval: 100 };

const folder = useFolder();
const receivers = await openReceivers(folder);
afterAll(() => receivers.close());

/** Starts a command again whenever it ends, as systemd does, until the end of the test. */
function keepRunning(args: readonly string[], variables: Record<string, string>) {
  let child = start(args, variables);
  let isOver = false;
  const watch = async () => {
    for (;;) {
      child.stdout.resume();
      child.stderr.resume();
      await once(child, 'close');
      if (isOver) return;
      child = start(args, variables);
    }
  };
  const watching = watch();
  onTestFinished(async () => {
    isOver = true;
    child.kill('SIGKILL');
    await watching;
  });
  return { kill: () => child.kill('SIGKILL') };
}

/** Two servers, of which one may be away. */
async function startServers(variables: Record<string, string>) {
  const serve = async () => {
    const port = await freePort();
    return spawnServer({ ...variables, PORT: String(port), BASE_URL: `http://localhost:${port}` });
  };
  const servers = [await serve(), await serve()];
  onTestFinished(async () => void (await Promise.all(servers.map((server) => server.stop()))));
  let turn = 0;
  const next = () => servers[turn++ % servers.length]?.baseUrl;
  return {
    baseUrl: () => servers[0]?.baseUrl ?? '',
    /** Revokes a token: again, until a server says that it has. */
    async revoke(token: string) {
      const init = { method: 'POST', headers: { authorization: `Bearer ${token}` } };
      for (;;) {
        const answer = await fetch(`${next()}/api/revoke`, init).catch(() => undefined);
        await answer?.arrayBuffer().catch(() => {});
        if (answer?.status === 200) return;
        await sleep(20);
      }
    },
    async killOne() {
      const [killed] = servers.splice(1, 1);
      await killed?.stop('SIGKILL');
      servers.push(await serve());
    },
  };
}

/** A receiver that verifies what it gets, and fails at random. */
class Judge {
  readonly accepted = new Set<string>();
  mood: Mood = 'well';
  readonly #path: string;
  readonly #secret: string;
  readonly #dice: Dice;
  readonly #bodies = new Map<string, string>();
  #tries = 0;

  constructor(path: string, secret: string) {
    this.#path = path;
    this.#secret = secret;
    this.#dice = new Dice(`${SEED} ${path}`);
    receivers.answer(path, (_request, response, { id, body, headers }) => {
      this.#judge(id, body, headers);
      if (!this.#fails()) {
        this.accepted.add(id);
        return 204;
      }
      if (this.#dice.hits(1 / 2)) return 503;
      response.destroy(); // it has the webhook, but its answer is lost
      return 0;
    });
  }

  readonly faults: string[] = [];

  #judge(id: string, body: string, headers: Record<string, string>): void {
    const before = this.#bodies.get(id) ?? body;
    this.#bodies.set(id, body);
    if (body !== before) this.faults.push(`${this.#path} got ${before} and then ${body}`);
    try {
      verify({ body, headers }, this.#secret);
    } catch (error) {
      this.faults.push(`${this.#path} got ${body}: ${(error as Error).message}`);
    }
  }

  #fails(): boolean {
    this.#tries += 1;
    return this.mood === 'flaky'
      ? this.#tries <= FLAKY_TRIES && this.#dice.hits(1 / 3)
      : this.mood === 'down';
  }

  beginStage(mood: Mood): void {
    this.mood = mood;
    this.#tries = 0;
  }
}

interface Told {
  readonly path: string;
  readonly id: string;
  readonly grantId: string | null;
  /** The reason, or the kind of a message. */
  readonly what: string;
}

/** What receivers are to be told of an event. */
async function toldOf(pool: pg.Pool, { id, outcome, userId, clientId, grantId, detail }: AuditEvent) {
  const replacesNone = outcome === 'approved_again' && !(detail as { replaces?: string } | null)?.replaces;
  const [reason, kind] = replacesNone ? [undefined, 'allowed'] : [REASONS[outcome], KINDS[outcome]];
  const told: Told[] = kind === undefined ? [] : [{ path: WALLET, id, grantId, what: kind }];
  if (reason === undefined) return told;
  if (outcome !== 'user_blocked') return [...told, { path: `/${clientId}`, id, grantId, what: reason }];
  const { rows } = await pool.query<Record<'grant_id' | 'client_id', string>>(
    'select grant_id, client_id from grants where user_id = $1',
    [userId],
  );
  const ofGrant = (row: (typeof rows)[number]): Told => {
    return { path: `/${row.client_id}`, id: `${id}-${row.grant_id}`, grantId: row.grant_id, what: reason };
  };
  return [...told, ...rows.map(ofGrant)];
}

/** What receivers are to be told, in order. */
async function findWanted(pool: pg.Pool, since: Date): Promise<Told[]> {
  const wanted: Told[] = [];
  for await (const events of findAuditEvents(pool, { since }, null))
    for (const event of events) wanted.push(...(await toldOf(pool, event)));
  return wanted;
}

/** Deliveries that nothing asks for, that say something else, or that came before the accepted end of an earlier one of their grant. */
function findWrong(wanted: readonly Told[]): string[] {
  const known = new Map(wanted.map((told) => [`${told.path} ${told.id}`, told]));
  const waiting = new Map<string, string[]>();
  const grantOf = ({ path, grantId }: Told) => `${path} ${grantId}`;
  for (const told of wanted) waiting.set(grantOf(told), [...(waiting.get(grantOf(told)) ?? []), told.id]);
  return receivers.deliveries.flatMap(({ path, id, body, status }) => {
    const told = known.get(`${path} ${id}`);
    const { kind, data } = JSON.parse(body);
    if (told === undefined || (kind ?? data.reason) !== told.what) return [`${path} got ${body}`];
    if (data !== undefined && data.grant_id !== told.grantId) return [`${path} got ${body}`];
    const ids = told.grantId === null ? [id] : (waiting.get(grantOf(told)) ?? []);
    const place = ids.indexOf(id);
    if (place === 0 && status === 204) ids.shift();
    return place > 0 ? [`${path} got ${body} before ${ids[0]}`] : [];
  });
}

it(`misses nothing, keeps the order of each authorization, and repeats only the same, with the seed ${SEED}`, async () => {
  const postgres = new OwnPostgres();
  onTestFinished(() => postgres.remove());
  await postgres.start();
  const NOTIFY_URL = receivers.uriOf(WALLET);
  const variables = { ...onDatabase(postgres.url()), BASE_URL: 'https://pay.example', NOTIFY_URL };
  const { json } = commandsOn(variables);
  const servers = await startServers(variables);
  const pool = ownPool(postgres.url());
  const dice = new Dice(SEED);

  const usersOf = (count: number) =>
    Promise.all(Array.from({ length: count }, () => createUser(pool, { paymentPassword: null })));
  const [revoking, revoked, blocked] = [
    await usersOf(USERS.revoking),
    await usersOf(USERS.revokedByOperator),
    await usersOf(USERS.blocked),
  ];
  const shops: TestClient[] = [];
  const judges = new Map<string, Judge>();
  const judge = async (path: string, id = '') => {
    const { secrets } = await json<{ secrets: [string] }>(`notify secret ${id}`);
    judges.set(path, new Judge(path, secrets[0]));
  };
  await judge(WALLET);
  for (let n = 0; n < SHOPS; n += 1) {
    const shop = await createClient(pool, { name: `Shop ${n}` });
    const path = `/${shop.clientId}`;
    await json(`client update ${shop.clientId} --events-uri ${receivers.uriOf(path)} --events-internal`);
    await judge(path, shop.clientId);
    shops.push(shop);
  }
  /** @returns the tokens, in a random order */
  const importFor = async (users: readonly TestUser[]): Promise<string[]> => {
    const rows = users.flatMap(({ login }) =>
      shops.flatMap(({ clientId }) =>
        Array.from({ length: INSTANCES }, (_, n) => ({
          ...{ login, client_id: clientId, instance_name: `${n}`, scope: 'account-info' },
          ...{ token: randomUUID(), issued_at: new Date().toISOString() },
        })),
      ),
    );
    const file = fileIn(folder, 'tokens', rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    expect(await json(`grant import ${file}`)).toMatchObject({ imported: rows.length });
    const placed = rows.map(({ token }) => ({ token, place: dice.next() }));
    return placed.sort((one, other) => one.place - other.place).map(({ token }) => token);
  };
  const tokens = await importFor(revoking);
  await importFor([...revoked, ...blocked]);

  const { rows } = await pool.query<{ now: Date }>('select clock_timestamp() as now');
  const since = rows[0]?.now ?? new Date();
  const notifier = keepRunning(['notify'], {
    ...variables,
    NODE_EXTRA_CA_CERTS: receivers.certificate,
  });
  const cursors = async () => (await pool.query('select from notify_cursors')).rowCount;
  await expect.poll(cursors, PATIENCE).toBe(1);

  // As if an operator entered `notify resume` again and again, for all that are not down.
  const resume = `update notify_cursors set failures = 0, failing_since = null, next_try_at = clock_timestamp()
                   where failures > 0 and endpoint = any ($1)`;
  const endpointOf = (path: string) => (path === WALLET ? 'wallet' : `client:${path.slice(1)}`);
  let isOver = false;
  const resumeAll = async () => {
    for (; !isOver; await sleep(100)) {
      const endpoints = [...judges].flatMap(([path, { mood }]) => (mood === 'down' ? [] : endpointOf(path)));
      await pool.query(resume, [endpoints]).catch(() => {});
    }
  };
  const resuming = resumeAll();
  onTestFinished(async () => {
    isOver = true;
    await resuming;
  });

  const kill = {
    notify: async () => void notifier.kill(),
    server: () => servers.killOne(),
    postgres: async () => {
      await postgres.kill('SIGKILL');
      await postgres.start();
    },
  };
  const untilTold = (wanted: readonly Told[], isAsked: (judge?: Judge) => boolean) => {
    const isUntold = ({ path, id }: Told) => isAsked(judges.get(path)) && !judges.get(path)?.accepted.has(id);
    return expect.poll(() => wanted.filter(isUntold).slice(0, 5), PATIENCE).toEqual([]);
  };
  const browser = new Agent(servers.baseUrl());
  const [anna] = revoking as [TestUser];
  const share = Math.ceil(tokens.length / KILLS.length);
  for (const [stage, killed] of KILLS.entries()) {
    for (const each of judges.values()) each.beginStage(dice.weighed(MOODS));
    if (stage % 2 === 0) {
      await json(`grant revoke --login ${revoked[stage / 2]?.login} --yes`);
      await json(`user block ${blocked[stage / 2]?.login}`);
    }
    const ofStage = tokens.splice(0, share);
    // These begin and end again in each stage: their order is seen.
    for (const shop of shops.slice(0, 3))
      for (let time = 0; time < 2; time += 1)
        ofStage.push(await obtainToken(browser, shop, anna, { instance_name: 'again' }));
    let ended = 0;
    const endAll = async () => {
      for (let token = ofStage.shift(); token !== undefined; token = ofStage.shift()) {
        await servers.revoke(token);
        ended += 1;
      }
    };
    const ending = Promise.all(Array.from({ length: 16 }, endAll));
    await vi.waitUntil(() => ended > share / 2, { ...PATIENCE, interval: 10 });
    for (const one of killed) await kill[one]();
    await ending;
    await untilTold(await findWanted(pool, since), (one) => one?.mood === 'well');
  }
  for (const each of judges.values()) each.beginStage('well');
  const wanted = await findWanted(pool, since);
  await untilTold(wanted, () => true);
  await expect.poll(cursors, PATIENCE).toBe(1);

  expect([...judges.values()].flatMap(({ faults }) => faults)).toEqual([]);
  expect(findWrong(wanted)).toEqual([]);
  const ends = (path: string) => wanted.filter((told) => (told.path === WALLET) === (path === WALLET));
  const grants = await pool.query('select from grants where revoked_at is not null');
  expect(grants.rowCount).toBeGreaterThanOrEqual(10_000);
  expect(ends('shops').length).toBeGreaterThan(10_000);
  expect(ends(WALLET).length).toBeGreaterThan(10_000);
}, 1_200_000);
