import { afterAll, expect, it } from 'vitest';
import { codeOf, introspect, obtainCode, reachConsent, requestOf, tokenRequestOf } from '../support/flow.ts';
import { Agent, type Answer, type Form, formWith } from '../support/http/agent.ts';
import { useDatabase } from '../support/postgres/database.ts';
import { waiting, whileHeld } from '../support/postgres/locks.ts';
import { onDatabase, spawnServer } from '../support/process/process.ts';
import { type TestClient, type TestUser, useServer } from '../support/server.ts';

// Two server processes on one database, like two replicas behind a load balancer.

const database = await useDatabase();
const registry = await useServer({ database }); // registers clients and users; takes no part in the races
const replicas = await Promise.all([1, 2].map(() => spawnServer(onDatabase(database.url))));
afterAll(() => Promise.all(replicas.map((replica) => replica.stop())));

/** One browser at both replicas, with the same cookies. */
function agents(): [Agent, Agent] {
  const [first, second] = replicas.map(({ baseUrl }) => new Agent(baseUrl)) as [Agent, Agent];
  return [first, Object.assign(second, { cookies: first.cookies })];
}

function race(times: number, attempt: (agent: Agent, index: number) => Promise<Answer>, both = agents()) {
  return Promise.all(Array.from({ length: times }, (_, index) => attempt(both[index % 2] as Agent, index)));
}

const allow = (agent: Agent, { fields }: Form) =>
  agent.post('/oauth/consent', { ...fields, decision: 'allow' });

const people = async () => [await registry.createClient(), await registry.createUser()] as const;

const formOf = async (agent: Agent, fields: Record<string, string>, user: TestUser) =>
  formWith(await reachConsent(agent, fields, user), 'decision');

async function events(kind: string, { clientId }: TestClient): Promise<number | null> {
  const events = 'select from audit_events where kind like $1 and client_id = $2';
  return (await database.pool.query(events, [kind, clientId])).rowCount;
}

it('a pair of servers gives one token for many parallel exchanges of one code [races-1]', async () => {
  const [client, user] = await people();
  const code = await obtainCode(agents()[0], requestOf(client), user);
  const request = tokenRequestOf(client, code);
  const answers = await race(50, (agent) => agent.post('/oauth/token', request));
  const bodies = answers.map(({ body }) => JSON.parse(body) as { access_token?: string; error?: string });
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(bodies.filter(({ error }) => error === 'invalid_grant')).toHaveLength(49);
  expect(await events('exchanged', client)).toBe(1);
});

it('a pair of servers accepts one of many concurrent consent forms for one grant, and restarts the rest', async () => {
  const [client, user] = await people();
  const both = agents();
  const [first] = both;
  await reachConsent(first, requestOf(client), user);
  const forms: Form[] = [];
  for (let index = 0; index < 20; index += 1)
    forms.push(await formOf(first, requestOf(client, { state: String(index) }), user));
  const answers = await race(20, (agent, index) => allow(agent, forms[index] as Form), both);
  const [winner, ...others] = answers.toSorted((one, other) => one.status - other.status);
  for (const { location } of others) expect(location).toMatch(/\/oauth\/authorize\?client_id=/);
  expect(await events('approved%', client)).toBe(1);
  const request = tokenRequestOf(client, codeOf(winner as Answer));
  expect((await first.post('/oauth/token', request)).status).toBe(200);
});

it('a pair of servers never issues a token for a code that a concurrent authorization annulled', async () => {
  const [client, user] = await people();
  const resource = await registry.createResource();
  const [first, second] = agents();
  let issued = 0;
  // In half of the rounds the exchange comes first, so that the approval has a token to annul.
  for (let round = 0; round < 10; round += 1) {
    const code = await obtainCode(first, requestOf(client, { state: `a${round}` }), user);
    const form = await formOf(first, requestOf(client, { state: `b${round}` }), user);
    const exchanging = second.post('/oauth/token', tokenRequestOf(client, code));
    if (round % 2 === 0) await exchanging;
    const approval = await allow(first, form);
    const exchange = await exchanging;
    expect(approval.status).toBe(302);
    const { access_token } = JSON.parse(exchange.body) as { access_token?: string };
    if (access_token === undefined) continue;
    issued += 1;
    expect(await introspect(registry, resource, access_token)).toEqual({ active: false });
  }
  expect(issued).toBeGreaterThanOrEqual(5);
});

it('a pair of servers exchanges every code exactly once, even if a server is killed in the middle of it', async () => {
  const user = await registry.createUser();
  const clients = await Promise.all(Array.from({ length: 12 }, () => registry.createClient()));
  const [, second] = agents();
  const victim = await spawnServer(onDatabase(database.url));
  const dying = Object.assign(new Agent(victim.baseUrl), { cookies: second.cookies });
  const codes: { client: TestClient; code: string }[] = [];
  for (const client of clients)
    codes.push({ client, code: await obtainCode(second, requestOf(client), user) });
  // The exchanges wait for this lock, so the victim dies in the middle of them.
  const lock = 'select from grants where user_id = $1 for update';
  await whileHeld(database.pool, lock, [user.userId], async () => {
    const answers = Promise.allSettled(
      codes.map(({ client, code }) => dying.post('/oauth/token', tokenRequestOf(client, code))),
    );
    await expect.poll(() => waiting(database.pool), { interval: 10 }).not.toEqual([]);
    await victim.stop('SIGKILL');
    for (const { status } of await answers) expect(status).toBe('rejected');
  });
  for (const { client, code } of codes) {
    // The repeat is refused if the first exchange had reached PostgreSQL, which then finishes it.
    expect([200, 400]).toContain((await second.post('/oauth/token', tokenRequestOf(client, code))).status);
    expect(await events('exchanged', client)).toBe(1);
  }
});

it('a pair of servers has no handler for SIGSEGV, which ends a server at once', async () => {
  const broken = await spawnServer(onDatabase(database.url));
  expect(await broken.stop('SIGSEGV')).toBe(null);
});
