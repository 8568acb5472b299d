import { setTimeout as pause } from 'node:timers/promises';
import { Agent } from '../../support/agent.ts';
import type { TestDatabase } from '../../support/database.ts';
import { codeOf, decide, reachConsent, requestOf, signIn, tokenRequestOf } from '../../support/flow.ts';
import { createClient, createResource, createUser } from '../../support/registrations.ts';
import type { TestClient, TestUser } from '../../support/server.ts';

const PEOPLE = 12;
const PAYS = 'account-info payment.to-account("410011161616877").limit(30,200)';

interface Person {
  readonly agent: Agent;
  readonly user: TestUser;
}

/** Life at a service: flows mostly, with what goes wrong now and then. @returns runs it for a time, in milliseconds */
export async function prepareLoad(database: TestDatabase, servers: readonly string[]) {
  const client = await createClient(database.pool);
  const resource = { authorization: await createResource(database.pool) };
  const people: Person[] = [];
  for (let n = 0; n < PEOPLE; n += 1) {
    const agent = new Agent(servers[n % servers.length] ?? '');
    people.push({ agent, user: await createUser(database.pool) });
  }
  return async (ms: number): Promise<void> => {
    const until = Date.now() + ms;
    const lives = people.map(async (person, n) => {
      for (let turn = n; Date.now() < until; turn += 1) {
        await live(person, client, resource, turn).catch(() => {});
        await pause(100 + 100 * (turn % 5));
      }
    });
    await Promise.all([...lives, guess(servers[0] ?? '', ms), holdLock(database, ms)]);
  };
}

async function live(
  { agent, user }: Person,
  client: TestClient,
  resource: Record<string, string>,
  turn: number,
) {
  const scope = turn % 4 === 0 ? { scope: PAYS } : {};
  const consent = await reachConsent(
    agent,
    requestOf(client, { ...scope, instance_name: `phone ${turn % 3}` }),
    user,
  );
  if (turn % 9 === 0) {
    await decide(agent, consent, 'reject');
    return;
  }
  const fields = tokenRequestOf(client, codeOf(await decide(agent, consent, 'allow')));
  if (turn % 23 === 0) await agent.post('/oauth/token', { ...fields, code: 'never given' });
  const { access_token = '' } = JSON.parse((await agent.post('/oauth/token', fields)).body) as {
    access_token?: string;
  };
  for (let times = 0; times < 6; times += 1)
    await agent.post('/oauth/introspect', { token: access_token }, resource);
  if (turn % 31 === 0)
    await agent.post('/oauth/token', fields); // a replay
  else if (turn % 7 === 0) await agent.post('/api/revoke', {}, { authorization: `Bearer ${access_token}` });
  if (turn % 17 === 0) agent.cookies.clear(); // another browser
}

/** Somebody tries passwords for the third quarter of the time. */
async function guess(server: string, ms: number): Promise<void> {
  await pause(ms / 2);
  for (const end = Date.now() + ms / 4; Date.now() < end; ) {
    const login = `user-${Math.floor(Math.random() * 40)}`;
    await signIn(new Agent(server), login, 'not the password').catch(() => {});
  }
}

/** Somebody holds a lock by hand, for three seconds, after a third of the time. */
async function holdLock({ pool }: TestDatabase, ms: number): Promise<void> {
  await pause(ms / 3);
  const connection = await pool.connect();
  await connection.query('begin; lock table grants in exclusive mode');
  await pause(3_000);
  await connection.query('rollback');
  connection.release();
}
