import { randomBytes, randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sha256 } from '../../src/secrets/digest.ts';
import { formatToken, userSlotOf } from '../../src/secrets/tokens.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { tokenRequestOf } from '../support/flow.ts';
import { onDatabase, spawnServer } from '../support/process.ts';
import { startServer, type TestClient, type TestServer } from '../support/server.ts';

// A replica that is killed with SIGKILL in the middle of many exchanges: what its callers were told, and what is so.

/** How many exchange at once. */
const CALLERS = 32;
const CODES = 2_000;

let database: TestDatabase;
let registry: TestServer;
let client: TestClient;

beforeAll(async () => {
  database = await createDatabase();
  registry = await startServer({ database }); // stands for the other replicas
  client = await registry.createClient();
});

afterAll(async () => {
  await registry.close();
  await database.drop();
});

/** Codes of as many users, as Allow leaves them, but good for longer. */
async function makeCodes(count: number): Promise<string[]> {
  const grantIds = Array.from({ length: count }, () => randomUUID());
  const codes = grantIds.map((grantId) =>
    formatToken('code', { grantId, userSlot: userSlotOf(grantId) }, randomBytes(32)),
  );
  await database.pool.query(
    `with people as (insert into users (user_id, login, login_key, name, password_hash)
       select id, id, id, 'User', 'none' from unnest($1::uuid[]) as id)
     insert into grants (grant_id, user_id, client_id, revision, scope, redirect_uri, code_hash, code_expires_at, confirmed_at)
     select id, id, $2, 1, 'account-info', $3, hash, now() + interval '10 minutes', now()
       from unnest($1::uuid[], $4::bytea[]) as g (id, hash)`,
    [grantIds, client.clientId, client.redirectUri, codes.map(sha256)],
  );
  return codes;
}

/** @returns the token; null without an answer; what else was answered is an error */
function exchange(baseUrl: string, agent: Agent, code: string): Promise<string | null> {
  const body = new URLSearchParams(tokenRequestOf(client, code)).toString();
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': body.length };
    const asked = request(`${baseUrl}/oauth/token`, { method: 'POST', headers, agent }, (answer) => {
      let text = '';
      answer.on('data', (chunk) => {
        text += chunk;
      });
      answer.on('error', () => resolve(null));
      answer.on('end', () => {
        const token = /"access_token":"([^"]+)"/.exec(text)?.[1];
        if (token === undefined) reject(new Error(`${answer.statusCode} ${text}`));
        else resolve(token);
      });
    });
    asked.on('error', () => resolve(null));
    asked.end(body);
  });
}

it('what was answered is so, and of the rest at most what was under way was carried out', async () => {
  const codes = await makeCodes(CODES);
  const replica = await spawnServer(onDatabase(database.url));
  const agent = new Agent({ keepAlive: true, maxSockets: CALLERS });
  const tokens = new Map<string, string>();
  const unanswered: string[] = [];
  const waiting = [...codes];
  const caller = async () => {
    for (let code = waiting.pop(); code !== undefined && unanswered.length === 0; code = waiting.pop()) {
      const token = await exchange(replica.baseUrl, agent, code);
      if (token === null) unanswered.push(code);
      else tokens.set(code, token);
      if (tokens.size === CODES / 4) process.kill(replica.pid, 'SIGKILL');
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  expect(await replica.stop()).toBeNull();
  expect(unanswered.length).toBeGreaterThan(0);
  expect(unanswered.length).toBeLessThanOrEqual(CALLERS);

  // PostgreSQL finishes what it was told, although nobody waits for it.
  const busy = `select count(*)::int from pg_stat_activity
                 where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`;
  await expect.poll(async () => (await database.pool.query(busy)).rows[0].count).toBe(0);
  const { rows } = await database.pool.query<{ code: string; token: string | null }>(
    `select encode(code_hash, 'hex') as code, encode(token_hash, 'hex') as token from grants
      where client_id = $1`,
    [client.clientId],
  );
  const issued = new Map(rows.map(({ code, token }) => [`\\x${code}`, token && `\\x${token}`]));
  for (const [code, token] of tokens) expect(issued.get(sha256(code))).toBe(sha256(token));
  const carriedOut = unanswered.filter((code) => issued.get(sha256(code)) != null);
  const all = rows.filter(({ token }) => token !== null);
  expect(all).toHaveLength(tokens.size + carriedOut.length);
  const events = await database.pool.query(`select from audit_events where kind = 'exchanged'`);
  expect(events.rowCount).toBe(all.length);

  // Another replica: what was not carried out still can be; what was has to be allowed anew, and its token is revoked.
  for (const code of unanswered) {
    const again = exchange(registry.baseUrl, agent, code);
    if (carriedOut.includes(code)) await expect(again).rejects.toThrow(/400 .*"invalid_grant"/);
    else expect(await again).toMatch(/^assent_at_/);
  }
  agent.destroy();
});
