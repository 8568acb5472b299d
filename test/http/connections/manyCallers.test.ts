import { describe, expect, it } from 'vitest';
import { revokeByBearer } from '../../../src/flows/token/revoke.ts';
import { obtainToken } from '../../support/flow.ts';
import { Agent } from '../../support/http/agent.ts';
import { intercept } from '../../support/postgres/intercept.ts';
import { CALLER, type TestClient, useServer } from '../../support/server.ts';
import { isLive } from '../../support/state.ts';

const server = await useServer();
const resource = await server.createResource();
let statements: string[] = [];
const pool = intercept(server.database.pool, (statement, run) => {
  statements.push(statement.name ?? '');
  return run();
});
/** On the same database, with its statements counted by their names. */
const counted = await useServer({ database: { ...server.database, pool } });

const times = (name: string) => statements.filter((statement) => statement === name).length;

describe('many concurrent callers', () => {
  it('share one readiness query per second', async () => {
    const agent = new Agent(counted.baseUrl);
    await agent.get('/health/ready');
    statements = [];
    const begun = performance.now();
    const answers = await Promise.all(Array.from({ length: 300 }, () => agent.get('/health/ready')));
    const seconds = (performance.now() - begun) / 1000;
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(times('health-tables')).toBeLessThanOrEqual(Math.ceil(seconds));
  });

  it('revoke exactly their own tokens, in one SQL statement for simultaneous requests [manyCallers-1]', async () => {
    const client = await server.createClient();
    const users = Array.from({ length: 40 }, () => server.createUser());
    const tokens = await Promise.all(
      users.map(async (user) => obtainToken(new Agent(server.baseUrl), client, await user)),
    );
    const [kept, foreign, ...given] = tokens as [string, string, ...string[]];
    const other = await server.createClient();
    const agent = new Agent(counted.baseUrl);
    const byBearer = (token: string) => agent.post('/api/revoke', {}, { authorization: `Bearer ${token}` });
    const by = ({ clientId }: TestClient, token: string, client_secret: string | null) =>
      agent.post('/oauth/revoke', { token, client_id: clientId, client_secret: client_secret ?? '' });
    const atOnce = given.splice(0, 10);
    statements = [];
    await Promise.all(atOnce.map((token) => revokeByBearer(counted.context, token, CALLER)));
    expect(times('grant-revoke-by-token')).toBe(1);
    const answers = await Promise.all([
      ...given.map((token, n) => (n % 2 === 0 ? byBearer(token) : by(client, token, client.clientSecret))),
      by(other, foreign, other.clientSecret),
      by(client, kept, 'wrong'),
      byBearer(`${kept}x`),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([...given.map(() => 200), 200, 400, 200]);
    const active = await Promise.all(tokens.map((token) => isLive(server, resource, token)));
    expect(active).toEqual(tokens.map((token) => token === kept || token === foreign));
    const { rows } = await server.database.pool.query<{ count: number; references: number }>(
      `select count(*)::int as count, count(distinct reference)::int as references from audit_events
        where client_id = $1 and kind = 'revoked_by_application'`,
      [client.clientId],
    );
    expect(rows).toEqual([{ count: given.length + atOnce.length, references: given.length + 1 }]);
  });
});
