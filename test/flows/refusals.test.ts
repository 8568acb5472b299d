import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openDatabase } from '../../src/store/database/database.ts';
import { RefusalLog } from '../../src/watch/refusals.ts';
import { useServer } from '../support/server.ts';

const server = await useServer();
const { pool } = server.database;

beforeEach(async () => {
  await pool.query('truncate refusals');
  const now = performance.now();
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  vi.advanceTimersByTime(now); // else a pending statement would take negative time
});
afterEach(() => {
  vi.useRealTimers();
});

const REFUSAL = {
  ...{ method: 'GET', path: '/', status: 400, error: 'invalid_request' },
  ...{ rule: 'x', ruleId: 'x', clientId: null },
};

let references = 0;
/** Refuses requests of each address. @returns the number of each that is kept */
async function refuse(refusals: RefusalLog, seconds: number, perSecond: number, addresses: string[]) {
  references += 1; // another for each call
  const referenceOf = (address: string) => `${references} ${address}`;
  for (let second = 0; second < seconds; second += 1) {
    for (const address of addresses)
      for (let n = 0; n < perSecond; n += 1)
        refusals.note({ ...REFUSAL, reference: referenceOf(address) }, address);
    await refusals.write();
    vi.advanceTimersByTime(1_000);
  }
  return Promise.all(addresses.map((address) => keptOf(referenceOf(address))));
}

const keptOf = async (reference: string) =>
  (await pool.query('select from refusals where reference = $1', [reference])).rowCount ?? 0;

describe('the stored records of refused requests, during a flood', () => {
  it('are limited per network, in a second and in minutes', async () => {
    const refusals = new RefusalLog(server.context);
    expect(await refuse(refusals, 1, 50, ['198.51.100.1'])).toEqual([5]);
    expect(await refuse(refusals, 40, 10, ['198.51.100.1'])).toEqual([55]);
    expect(await refuse(refusals, 5, 10, ['198.51.100.1', '203.0.113.1'])).toEqual([0, 25]);
    await pool.query(`update refusals set at = at - interval '10 minutes'`);
    vi.advanceTimersByTime(600_000);
    expect(await refuse(refusals, 2, 10, ['198.51.100.1'])).toEqual([10]);
  });

  it('leave room for other networks after some have used up their share', async () => {
    const refusals = new RefusalLog(server.context);
    const flood = ['198.51.100.1', '198.51.101.1', '198.51.102.1', '198.51.103.1'];
    expect(await refuse(refusals, 12, 5, flood)).toEqual([60, 60, 60, 60]);
    expect(await refuse(refusals, 5, 5, [...flood, '203.0.113.1'])).toEqual([0, 0, 0, 0, 25]);
  });

  it('are limited over all processes together, with a small excess for concurrent writes [refusals-1]', async () => {
    const databases = Array.from({ length: 8 }, () => openDatabase(server.database.url));
    const processes = databases.map((db) => new RefusalLog({ ...server.context, db }));
    const writeAll = (address: string, perProcess: number) =>
      Promise.all(
        processes.map((refusals) => {
          for (let n = 0; n < perProcess; n += 1) refusals.note({ ...REFUSAL, reference: address }, address);
          return refusals.write();
        }),
      );
    for (let second = 0; second < 20; second += 1) await writeAll('198.51.100.1', 10);
    const kept = await keptOf('198.51.100.1');
    expect([kept >= 60, kept <= 60 + 5 * (processes.length - 1)]).toEqual([true, true]);
    await writeAll('203.0.113.1', 1);
    expect(await keptOf('203.0.113.1')).toBe(processes.length);
    await Promise.all(databases.map((db) => db.end()));
  });

  it('are limited per second in all', async () => {
    const addresses = Array.from({ length: 10 }, (_, n) => `198.51.100.${n}`);
    const kept = await refuse(new RefusalLog(server.context), 3, 5, addresses);
    expect(kept.reduce((sum, count) => sum + count, 0)).toBe(60);
  });
});
