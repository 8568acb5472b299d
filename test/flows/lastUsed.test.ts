import { EventEmitter, once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { introspect as ask } from '../../src/flows/token/introspect.ts';
import { sha256 } from '../../src/secrets/digest.ts';
import { parseToken } from '../../src/secrets/tokens.ts';
import { transaction } from '../../src/store/database/database.ts';
import { recordGrantUses } from '../../src/store/token/introspection.ts';
import { actorsAt } from '../support/account.ts';
import { introspect, obtainToken } from '../support/flow.ts';
import { doingBefore } from '../support/postgres/intercept.ts';
import { waitForLocks, whileHeld } from '../support/postgres/locks.ts';
import { useServer } from '../support/server.ts';

const server = await useServer();
const { pool } = server.database;
const resource = await server.createResource();

async function authorized() {
  const { client, user, agent } = await actorsAt(server);
  const token = await obtainToken(agent, client, user);
  const { grantId } = parseToken('token', token);
  return { client, user, agent, token, grantId: grantId ?? '' };
}

/** Its use, true for today in UTC and null for never; its revision, and the transaction that wrote it. */
async function rowOf(grantId: string) {
  const { rows } = await pool.query(
    `select last_used_on = (now() at time zone 'UTC')::date as used, revision, xmin::text as written
       from grants where grant_id = $1`,
    [grantId],
  );
  return rows[0];
}

const isUsed = async (grantId: string) => (await rowOf(grantId)).used;

/** Introspects until the use is noted, which no answer waits for. */
async function use(token: string, grantId: string): Promise<void> {
  expect(await introspect(server, resource, token)).toMatchObject({ active: true });
  await expect.poll(() => isUsed(grantId), { interval: 10 }).toBe(true);
}

/** Waits until a later use of another grant is noted, hence all earlier ones too. */
async function settle(): Promise<void> {
  const { token, grantId } = await authorized();
  await use(token, grantId);
}

describe('the last-used day of an authorization', () => {
  it('is recorded by an introspection, once a day, without a new revision', async () => {
    const { token, grantId } = await authorized();
    expect(await rowOf(grantId)).toMatchObject({ used: null, revision: 1 });
    await use(token, grantId);
    const noted = await rowOf(grantId);
    expect(noted.revision).toBe(1);
    await Promise.all([1, 2, 3].map(() => introspect(server, resource, token)));
    await settle();
    expect(await rowOf(grantId)).toEqual(noted);
    await pool.query(`update grants set last_used_on = '2020-02-29' where grant_id = $1`, [grantId]);
    await use(token, grantId);
  });

  it('is not recorded for an expired, revoked or wrong token, or an unknown resource server', async () => {
    const [expired, revoked, asked] = [await authorized(), await authorized(), await authorized()];
    const set = (change: string, { grantId }: { grantId: string }) =>
      pool.query(`update grants set ${change} where grant_id = $1`, [grantId]);
    await set(`token_issued_at = now() - interval '3 years'`, expired);
    await set('revoked_at = now()', revoked);
    for (const { token } of [expired, revoked])
      expect(await introspect(server, resource, token)).toEqual({ active: false });
    expect(await introspect(server, resource, `${asked.token.slice(0, -1)}!`)).toEqual({ active: false });
    await introspect(server, `Basic ${btoa('x:y')}`, asked.token);
    await settle();
    const days = [expired, revoked, asked].map(({ grantId }) => isUsed(grantId));
    expect(await Promise.all(days)).toEqual([null, null, null]);
  });

  it('is cleared by a new authorization, and no longer recorded for the earlier token', async () => {
    const { client, user, agent, token, grantId } = await authorized();
    await use(token, grantId);
    const next = await obtainToken(agent, client, user);
    expect(await rowOf(grantId)).toMatchObject({ used: null, revision: 2 });
    for (const [noted, used] of [
      [token, null],
      [next, true],
    ] as const) {
      recordGrantUses(pool, [{ grantId, tokenHash: sha256(noted) }]);
      await settle();
      expect(await isUsed(grantId)).toBe(used);
    }
  });

  it('is not recorded if the write fails or the row is locked, but the introspection succeeds', async () => {
    const [failing, locked] = [await authorized(), await authorized()];
    const [id = '', secret = ''] = atob(resource.slice('Basic '.length)).split(':');
    let notes = 0;
    const db = doingBefore(pool, 'grant-mark-used', async () => {
      notes += 1;
      throw new Error('no place on the disk');
    });
    const answer = await ask({ ...server.context, db }, { id, secret }, failing.token);
    expect(answer).toMatchObject({ active: true });
    await expect.poll(() => notes, { interval: 10 }).toBe(1);

    const lock = 'select from grants where grant_id = $1 for update';
    await whileHeld(pool, lock, [locked.grantId], async () => {
      expect(await introspect(server, resource, locked.token)).toMatchObject({ active: true });
      await settle();
      await waitForLocks(pool, 0);
    });
    expect(await Promise.all([failing, locked].map(({ grantId }) => isUsed(grantId)))).toEqual([null, null]);
    await use(locked.token, locked.grantId);
  });

  it('occupies one database connection while it can’t be written, even with many pending uses', async () => {
    const { grantId, token } = await authorized();
    let notes = 0;
    const gate = new EventEmitter();
    const held = once(gate, 'open');
    const db = doingBefore(pool, 'grant-mark-used', () => {
      notes += 1;
      return held;
    });
    const noted = () => expect.poll(() => notes, { interval: 10 });
    for (const _round of [1, 2, 3]) {
      recordGrantUses(db, [{ grantId, tokenHash: sha256(token) }]);
      await noted().toBe(1);
      await settle(); // takes a round of another pool
    }
    expect(notes).toBe(1);
    gate.emit('open');
    await noted().toBe(2);
  });

  it('is written without an index update (HOT)', async () => {
    const { grantId } = await authorized();
    const counts = `select pg_stat_get_xact_tuples_updated('grants'::regclass)::int as all,
                           pg_stat_get_xact_tuples_hot_updated('grants'::regclass)::int as hot`;
    const use = 'update grants set last_used_on = current_date where grant_id = $1';
    await transaction(pool, async (db) => {
      const [before] = (await db.query(counts)).rows;
      await db.query(use, [grantId]);
      const [after] = (await db.query(counts)).rows;
      expect(after).toEqual({ all: before.all + 1, hot: before.hot + 1 });
    });
  });
});
