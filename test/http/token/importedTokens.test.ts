import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { tokenExpiresAt } from '../../../src/rules/common/lifetimes.ts';
import { introspect, obtainToken } from '../../support/flow.ts';
import { Agent } from '../../support/http/agent.ts';
import { ledger } from '../../support/ledger.ts';
import { commandsOn } from '../../support/process/commands.ts';
import { onDatabase } from '../../support/process/process.ts';
import { type TestClient, type TestUser, useServer } from '../../support/server.ts';

// Tokens of an earlier service work like our own: they name no grant, so that `imported_tokens` has it.

const server = await useServer();
const { pool } = server.database;
const agent = new Agent(server.baseUrl);
const resource = await server.createResource();
const { json } = commandsOn(onDatabase(server.database.url));
const SCOPE = 'account-info payment-shop.limit(7,5000)';

const told = (token: string) => introspect(server, resource, token);

interface Imported {
  readonly user: TestUser;
  readonly client: TestClient;
  readonly token: string;
  readonly issuedAt: Date;
}

async function imported(given: Partial<Imported> = {}): Promise<Imported> {
  const token = given.token ?? `old.${randomBytes(24).toString('base64')}`;
  ledger.note('access token', token);
  const user = given.user ?? (await server.createUser({ paymentPassword: null }));
  const client = given.client ?? (await server.createClient());
  const issuedAt = given.issuedAt ?? new Date(Date.now() - 86_400_000);
  const row = { login: user.login, client_id: client.clientId, scope: SCOPE, issued_at: issuedAt };
  const sha256 = createHash('sha256').update(token).digest('hex');
  const result = await json('grant import', JSON.stringify({ ...row, token_sha256: sha256 }));
  expect(result).toMatchObject({ imported: 1, bad: 0 });
  return { user, client, token, issuedAt };
}

/** By its application, or else by its bearer. */
const revoke = (token: string, fields: Record<string, string> | null = null) =>
  fields === null
    ? agent.post('/api/revoke', {}, { authorization: `Bearer ${token}` })
    : agent.post('/oauth/revoke', { token, ...fields });

const eventsOf = async ({ user }: Imported) =>
  (await json<{ outcome: string }[]>(`audit --login ${user.login}`)).map(({ outcome }) => outcome);

describe('an imported token', () => {
  it('is introspected like a token of Assent, for three years from its own issue', async () => {
    const { user, client, token, issuedAt } = await imported();
    const limit = { right: 'payment-shop', period_days: 7, amount: '5000', currency: 'RUB' };
    expect(await told(token)).toMatchObject({
      active: true,
      scope: SCOPE,
      client_id: client.clientId,
      sub: user.userId,
      iat: Math.floor(issuedAt.getTime() / 1000),
      exp: Math.floor(tokenExpiresAt(issuedAt).getTime() / 1000),
      payment_limits: [limit],
    });
    expect(await told(`${token}x`)).toEqual({ active: false });
    expect(await json('token show', token)).toMatchObject({ token: 'active', login: user.login });
  });

  it('is revoked by its bearer, and by no application but its own', async () => {
    const [first, second] = [await imported(), await imported()];
    await revoke(first.token);
    expect(await told(first.token)).toEqual({ active: false });
    const { clientId: client_id, clientSecret } = first.client;
    await revoke(second.token, { client_id, client_secret: clientSecret ?? '' });
    expect(await told(second.token)).toMatchObject({ active: true });
    const own = { client_id: second.client.clientId, client_secret: second.client.clientSecret ?? '' };
    expect((await revoke(second.token, own)).status).toBe(200);
    expect(await told(second.token)).toEqual({ active: false });
    expect(await eventsOf(second)).toEqual(['user_created', 'imported', 'revoked_by_application']);
    await revoke(second.token, own);
    expect(await eventsOf(second)).toHaveLength(3);
  });

  it('is annulled by a new authorization, and stays annulled after that ends', async () => {
    const { user, client, token } = await imported();
    const ours = await obtainToken(new Agent(server.baseUrl), client, user, { scope: 'account-info' });
    expect(await told(token)).toEqual({ active: false });
    const { grant_id } = await told(ours);
    await revoke(token);
    expect(await told(ours)).toMatchObject({ active: true });
    await revoke(ours);
    expect(await told(token)).toEqual({ active: false });
    expect(await json(`grant show ${grant_id}`)).toMatchObject({ state: 'revoked' });
  });

  it('expires at the exact moment', async () => {
    const lastMoment = new Date(Date.now() + 3_000);
    const issuedAt = new Date(lastMoment);
    issuedAt.setUTCFullYear(issuedAt.getUTCFullYear() - 3);
    const { token } = await imported({ issuedAt });
    expect(await told(token)).toMatchObject({ active: true });
    await expect.poll(() => told(token)).toEqual({ active: false });
    expect(Date.now()).toBeGreaterThanOrEqual(lastMoment.getTime());
  });

  it('is deleted with its user', async () => {
    const { user, token } = await imported();
    await json(`user delete ${user.login} --yes`);
    expect(await told(token)).toEqual({ active: false });
    const { rowCount } = await pool.query(
      'select from imported_tokens join grants using (grant_id) where user_id = $1',
      [user.userId],
    );
    expect(rowCount).toBe(0);
  });

  it('is introspected and revoked once among many at the same time', async () => {
    const user = await server.createUser({ paymentPassword: null });
    const all = [await imported({ user }), await imported({ user }), await imported()];
    const ours = await obtainToken(new Agent(server.baseUrl), await server.createClient(), user);
    const asked = [...all.map(({ token }) => token), ours, 'unknown', ...all.map(({ token }) => token)];
    const answers = await Promise.all(asked.map(told));
    expect(answers.map(({ active }) => active)).toEqual([true, true, true, true, false, true, true, true]);
    await Promise.all([...asked, ...asked].map((token) => revoke(token)));
    for (const token of asked) expect(await told(token)).toEqual({ active: false });
    const { rows } = await pool.query(
      `select count(*)::int as n from audit_events where kind = 'revoked_by_application' and user_id = $1`,
      [user.userId],
    );
    expect(rows).toEqual([{ n: 3 }]);
  });
});
