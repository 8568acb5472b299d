import { describe, expect, it } from 'vitest';
import { findTrailPart, type TrailCursor } from '../../src/store/operate/auditTrail.ts';
import { useDatabase } from '../support/postgres/database.ts';

const { pool } = await useDatabase();

const HOUR_MICROS = 3_600_000_000n;

/** Writes events of these references in an own transaction. @returns the function that commits it */
async function begin(references: readonly string[], ago = '0'): Promise<() => Promise<void>> {
  const connection = await pool.connect();
  await connection.query('begin');
  const write = `insert into audit_events (kind, reference, at) values ('signed_in', $1, clock_timestamp() - $2::interval)`;
  for (const reference of references) await connection.query(write, [reference, ago]);
  return async () => {
    await connection.query('commit');
    connection.release();
  };
}

const write = async (...references: string[]) => (await begin(references))();

const read = async (cursor: TrailCursor | null, most: number) => {
  const part = await findTrailPart(pool, cursor, most);
  if (part === null) throw new Error('the cursor is of another database');
  return part;
};
const start = async (): Promise<TrailCursor> => (await read(null, 1)).cursor;

/** Follows the trail, and keeps the references of the events found. */
function follow(cursor: TrailCursor) {
  const follower = {
    cursor,
    found: [] as (string | null)[],
    async read(most = 1_000) {
      const { events, cursor } = await read(follower.cursor, most);
      const references = events.map(({ reference }) => reference);
      follower.found.push(...references);
      follower.cursor = cursor;
      return references;
    },
    async readAgain() {
      await follower.read();
      return follower.found;
    },
    /** Reads until `count` are found: events wait for older transactions, even of other tests. */
    async readUntil(count: number) {
      await expect.poll(async () => (await follower.readAgain()).length).toBeGreaterThanOrEqual(count);
      return follower.readAgain();
    },
  };
  return follower;
}

describe('a program that follows the audit trail', () => {
  it('receives every event once, even if an earlier event is committed after a later one [trailCursor-1]', async () => {
    const follower = follow(await start());
    const commit = await begin(['slow']);
    await write('quick');
    await follower.read();
    await follower.read();
    await commit();
    expect((await follower.readUntil(2)).slice(-2)).toEqual(['slow', 'quick']);
  });

  it('misses no event of a transaction that takes hours', async () => {
    const { since, at, ...ids } = await start();
    const follower = follow({ since: since - HOUR_MICROS, at: at - HOUR_MICROS, ...ids });
    const commit = await begin(['hours'], '1 hour');
    await follower.read();
    expect(await follower.readAgain()).not.toContain('hours');
    await commit();
    await expect.poll(follower.readAgain).toContain('hours');
  });

  it('misses no event of a transaction that was open long before the first read', async () => {
    const commit = await begin(['long'], '10 minutes');
    const follower = follow(await start());
    await commit();
    await expect.poll(follower.readAgain).toContain('long');
  });

  it('receives many events in parts, and those of one transaction together', async () => {
    // No transaction of the tests before is open after this.
    const first = follow(await start());
    await write('first');
    await first.readUntil(1);
    const { cursor } = first;
    for (const references of [['a1', 'a2', 'a3'], ['b'], ['c1', 'c2'], ['d']]) await write(...references);
    await follow(cursor).readUntil(7);
    const follower = follow(cursor);
    const parts = [];
    for (let part = 1; part <= 4; part += 1) parts.push(await follower.read(2));
    expect(parts).toEqual([['a1', 'a2', 'a3'], ['b', 'c1', 'c2'], ['d'], []]);
  });

  it('misses no event whose transaction id was reused after a failover or crash', async () => {
    const cursor = await start();
    await write('again');
    const { by } = await start();
    const follower = follow({ ...cursor, from: by });
    expect(await follower.readUntil(1)).toEqual(['again']);
  });

  it('receives no event repeatedly after the clock was set back', async () => {
    const follower = follow(await start());
    await (await begin(['ahead'], '-1 hour'))();
    expect(await follower.readUntil(1)).toEqual(['ahead']);
  });

  it('advances its cursor, and does not read all earlier events again', async () => {
    const follower = follow(await start());
    const { at } = follower.cursor;
    await expect.poll(() => follower.read().then(() => follower.cursor.since)).toBeGreaterThan(at);
  });

  it('gets an error for a cursor of another database', async () => {
    const cursor = await start();
    const { installation = 0n, ...ofBefore } = cursor;
    expect(await findTrailPart(pool, { ...cursor, from: cursor.by + 1_000_000n }, 1)).toBeNull();
    expect(await findTrailPart(pool, { ...cursor, installation: installation + 1n }, 1)).toBeNull();
    expect(await findTrailPart(pool, ofBefore, 1)).not.toBeNull();
  });
});
