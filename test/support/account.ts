import { expect } from 'vitest';
import { currentSession, type Session } from '../../src/flows/signIn/session.ts';
import { signIn } from './flow.ts';
import { Agent, type Answer } from './http/agent.ts';
import type { NewClient } from './operators.ts';
import { waiting, whileHeld } from './postgres/locks.ts';
import type { NewUser } from './registrations.ts';
import type { TestClient, TestServer, TestUser } from './server.ts';

type Fields = Record<string, string>;

export async function signedIn(
  { baseUrl }: Pick<TestServer, 'baseUrl'>,
  { login, password }: TestUser,
  headers: Fields = {},
): Promise<Agent> {
  const agent = new Agent(baseUrl, headers);
  await signIn(agent, login, password);
  return agent;
}

export async function actorsAt(server: TestServer, newClient?: Partial<NewClient>, newUser?: NewUser) {
  const [client, user] = [await server.createClient(newClient), await server.createUser(newUser)];
  return { client, user, agent: new Agent(server.baseUrl) };
}

export function copyOf({ baseUrl, cookies }: Agent, at = baseUrl): Agent {
  const copy = new Agent(at);
  for (const [name, value] of cookies) copy.cookies.set(name, value);
  return copy;
}

export async function sessionOf(
  { context }: Pick<TestServer, 'context'>,
  { cookies }: Agent,
): Promise<Session> {
  const session = await currentSession(context, cookies.get('assent_session') ?? '');
  if (session === null) throw new Error('no user is signed in');
  return session;
}

export async function isSignedIn(agent: Agent): Promise<boolean> {
  return (await agent.get('/oauth/account')).page === 'account';
}

/** The hidden fields of the first form that posts to `action`; none where the page has no such form. */
export function fieldsFor(page: Answer, action: string): Fields {
  return page.forms.find((form) => form.action === action)?.fields ?? {};
}

export async function follow(agent: Agent, answer: Answer): Promise<Answer> {
  expect(answer.status).toBe(303);
  return agent.get(answer.location ?? '');
}

/** The addresses of the receipts in the history, newest first. */
export async function receiptsIn(agent: Agent): Promise<string[]> {
  const { body } = await agent.get('/oauth/account/history');
  return Array.from(
    body.matchAll(/href="(\/oauth\/account\/history\/[^"]+)"/g),
    ([, address = '']) => address,
  );
}

/** Posts the first form for `action` as the page has it, and goes where that leads. */
export async function press(agent: Agent, page: Answer, action: string): Promise<Answer> {
  return follow(agent, await agent.post(action, fieldsFor(page, action)));
}

/** Live authorizations that are written without the pages, and how they differ from a token of `account-info`. */
interface Grants {
  readonly user: Pick<TestUser, 'userId'>;
  readonly client: Pick<TestClient, 'clientId'>;
  readonly scope?: string;
  /** How many, named `instance 1` and so on, each confirmed a second before the one with the number below. */
  readonly count?: number;
  /** Their codes have expired without having been exchanged. */
  readonly expired?: boolean;
}

export async function insertGrants(
  { database }: Pick<TestServer, 'database'>,
  { user, client, scope = 'account-info', count = 1, expired = false }: Grants,
): Promise<void> {
  await database.pool.query(
    `insert into grants (grant_id, user_id, client_id, instance_name, revision, scope, redirect_uri, code_hash,
                         code_expires_at, token_hash, token_issued_at, confirmed_at)
     select gen_random_uuid(), $1, $2, 'instance ' || n, 1, $3, 'x', sha256(n::text::bytea), at,
            case when not $5 then sha256(n::text::bytea) end, case when not $5 then at end, at
       from generate_series(1, $4::int) n, lateral (select clock_timestamp() - n * interval '1 second' as at) t`,
    [user.userId, client.clientId, scope, count, expired],
  );
}

/** Runs `work` while a table can't be read: each statement waits for the lock until that is given up. */
export function whileLocked(
  { database: { pool } }: Pick<TestServer, 'database'>,
  table: string,
  work: () => Promise<Answer>,
): Promise<Answer> {
  return whileHeld(pool, `lock table ${table}`, [], async () => {
    const answer = work();
    // As `statement_timeout` does, but at once.
    const giveUp = async () =>
      pool.query('select pg_cancel_backend(unnest($1::int[]))', [await waiting(pool)]);
    await expect.poll(async () => (await giveUp()).rowCount).toBeGreaterThan(0);
    return answer;
  });
}
