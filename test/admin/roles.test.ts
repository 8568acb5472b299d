import { describe, expect, it } from 'vitest';
import { operatorToken, useAdmin } from '../support/admin.ts';
import { newSecret } from '../support/ledger.ts';
import { createClient, createUser } from '../support/registrations.ts';

// What a support desk may do, and what the audit trail says of it.

const { url, call, tokenFor, database } = await useAdmin();
const { pool } = database;

/** A request with further headers. */
async function send(what: string, token: string, headers: Record<string, string>, body?: object) {
  const [method = '', path = ''] = what.split(' ');
  const type = body && { 'content-type': 'application/json' };
  const answer = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, ...type, ...headers },
    body: body ? JSON.stringify(body) : null,
  });
  return { status: answer.status, reference: answer.headers.get('x-request-id'), body: await answer.json() };
}

const eventsOf = async (userId: string, outcome = '') =>
  (await call(`GET /v1/audit?user_id=${userId}${outcome && `&outcome=${outcome}`}`)).body.items;

describe('an operator with the role supports', () => {
  it('takes a user’s access away and gives it back, and changes nothing else', async () => {
    const token = await tokenFor('supports');
    const { userId, login } = await createUser(pool);
    const { clientId } = await createClient(pool);
    const statusOf = async (what: string, body?: object) => (await call(what, body, token)).status;
    expect(await statusOf(`POST /v1/users/${login}/block`)).toBe(200);
    expect(await statusOf(`POST /v1/users/${login}/unblock`)).toBe(200);
    expect(await statusOf(`POST /v1/users/${login}/sign-out`)).toBe(200);
    expect(await statusOf('POST /v1/grants/revoke?confirm=true', { login })).toBe(200);
    for (const [what, body] of [
      [`POST /v1/users/${login}/set-password`, { password: newSecret() }],
      [`PATCH /v1/users/${login}`, { name: 'Other' }],
      [`DELETE /v1/users/${login}?confirm=true`],
      [`POST /v1/clients/${clientId}/block`],
      ['POST /v1/grants/revoke?confirm=true', { client_id: clientId }],
      ['POST /v1/grants/revoke?confirm=true', { since: '2026-01-01' }],
      ['POST /v1/operators', { name: 'deputy', role: 'changes' }],
    ] as const)
      expect([what, await statusOf(what, body)]).toEqual([what, 403]);
    expect((await eventsOf(userId)).map((one: { outcome: string }) => one.outcome)).toEqual([
      ...['user_created', 'user_blocked', 'user_unblocked', 'user_signed_out'],
    ]);
  });

  it('is below one that changes, which retires a secret', async () => {
    const token = await tokenFor('changes');
    const { clientId } = await createClient(pool, { verified: true });
    const [{ secret_id }] = (await call(`GET /v1/clients/${clientId}/secrets`)).body.items;
    const retire = `DELETE /v1/clients/${clientId}/secrets/${secret_id}`;
    expect((await call(retire, undefined, await tokenFor('supports'))).status).toBe(403);
    expect((await call(retire, undefined, token)).body.rule).toBe('not_confirmed');
    expect((await call(`${retire}?confirm=true`, undefined, token)).status).toBe(200);
  });
});

describe('the event of an act', () => {
  it('has the operator, the address, the reference of the request and the note', async () => {
    const token = await tokenFor('supports');
    const { userId, login } = await createUser(pool);
    const note = 'Anna phoned: 50 % off, “not me”, ключ';
    const answer = await send(
      `POST /v1/users/${login}/block`,
      token,
      { 'assent-note': encodeURIComponent(note), 'x-request-id': 'r-1234567890' },
      {},
    );
    expect(answer.status).toBe(200);
    const [event] = await eventsOf(userId, 'user_blocked');
    expect(event).toMatchObject({ address: '127.0.0.1', detail: { note } });
    expect(event.operator).toMatch(/^supports/);
    expect(event.reference).toMatch(/^[0-9a-f]{10}$/);
  });

  it('tells for a hundred mixed acts, at once, who did each, whence and why', async () => {
    const operators = await Promise.all(
      ['Maria', 'Boris', 'Clara', 'Egor'].map(async (name) => ({
        name,
        token: await operatorToken(pool, name, 'destroys', 1),
      })),
    );
    const client = await createClient(pool, { verified: true });
    const users = await Promise.all(operators.map(() => createUser(pool)));
    const acts = Array.from({ length: 100 }, (_, n) => {
      const login = users[n % users.length]?.login;
      const verbs = [
        [`POST /v1/users/${login}/block`],
        [`POST /v1/users/${login}/unblock`],
        [`POST /v1/users/${login}/set-password`, { password: newSecret() }],
        [`PATCH /v1/clients/${client.clientId}`, { name: `Shop ${n}` }],
        [`POST /v1/clients/${client.clientId}/secrets`, {}],
      ] as const;
      return { n, asked: verbs[n % verbs.length] ?? verbs[0], by: operators[n % operators.length] };
    });
    const done = await Promise.all(
      acts.map(async ({ n, asked: [what, body], by }) => {
        const headers = { 'assent-note': encodeURIComponent(`случай ${n}`) };
        const { status, reference } = await send(what, by?.token ?? '', headers, body ?? {});
        return { n, name: by?.name, what, reference, status };
      }),
    );
    const { rows } = await pool.query(
      `select operator, address::text, reference, detail ->> 'note' as note from audit_events where detail ->> 'note' like 'случай %'`,
    );
    const told = new Map(rows.map((row) => [row.note, row]));
    for (const { n, name, reference, what, status } of done) {
      expect([what, status]).toEqual([what, what.endsWith('/secrets') ? 201 : 200]);
      const event = { operator: name, address: '127.0.0.1', reference, note: `случай ${n}` };
      // A user who is blocked already stays so, without an event.
      if (!/block$/.test(what) || told.has(event.note)) expect(told.get(event.note)).toEqual(event);
    }
    expect(rows.length).toBe(told.size);
    expect(told.size).toBeGreaterThanOrEqual(60);
  });

  it('may have a note as it is, in UTF-8', async () => {
    const { userId, login } = await createUser(pool);
    const utf8 = Buffer.from('ключ 100%').toString('latin1');
    await send(`POST /v1/users/${login}/block`, await tokenFor('supports'), { 'assent-note': utf8 });
    expect((await eventsOf(userId, 'user_blocked'))[0].detail).toEqual({ note: 'ключ 100%' });
  });

  it.each(['a'.repeat(201), 'a%0Ab', 'a%00b'])('refuses the note %s', async (note) => {
    const { userId, login } = await createUser(pool);
    const refused = await send(`POST /v1/users/${login}/block`, await tokenFor('supports'), {
      'assent-note': note,
    });
    expect(refused).toMatchObject({ status: 400, body: { detail: expect.stringContaining('Assent-Note') } });
    expect(await eventsOf(userId, 'user_blocked')).toEqual([]);
  });
});

describe('a look at a person', () => {
  it('is written down once an hour for each operator, with the note, also by what belongs to the person', async () => {
    const [token, other] = [await tokenFor('reads'), await tokenFor('reads')];
    const { userId, login } = await createUser(pool);
    const looks = async () => eventsOf(userId, 'user_looked_at');
    const own = (await looks()).length; // `call` is an operator, too
    await send(`GET /v1/users/${login}`, token, { 'assent-note': 'case 4711' });
    await call(`GET /v1/users/${login}`, undefined, token);
    await call(`GET /v1/audit?user_id=${userId}`, undefined, other);
    const seen = await looks();
    expect(seen.slice(own).map(({ operator }: { operator: string }) => operator)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^reads/), expect.stringMatching(/^reads/)]),
    );
    expect(seen.filter(({ operator }: { operator: string }) => operator.startsWith('reads'))).toHaveLength(2);
    expect(seen.find(({ detail }: { detail: object | null }) => detail)).toMatchObject({
      detail: { note: 'case 4711' },
    });
  });

  it('is not one at many, or at none', async () => {
    const token = await tokenFor('reads');
    const users = [await createUser(pool), await createUser(pool)];
    expect((await call('GET /v1/users', undefined, token)).body.items.length).toBeGreaterThan(1);
    expect((await call('GET /v1/users/nobody-there', undefined, token)).status).toBe(404);
    for (const { userId } of users) {
      const { rows } = await pool.query(
        `select from audit_events where user_id = $1 and kind = 'user_looked_at'`,
        [userId],
      );
      expect(rows).toEqual([]);
    }
  });
});
