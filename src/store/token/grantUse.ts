import { setTimeout } from 'node:timers/promises';
import type pg from 'pg';
import type { Digest } from '../../secrets/digest.ts';
import { IS_LIVE } from '../common/grants.ts';
import { writeEach } from '../database/query.ts';

const TODAY = `(clock_timestamp() at time zone 'UTC')::date`;

/** For `grants g`: true if a use now is the day's (UTC) first of a valid authorization. */
export const IS_FIRST_USE_OF_GRANT = `g.last_used_on is distinct from ${TODAY} and ${IS_LIVE}`;

/** An introspected token. */
interface GrantUse {
  readonly grantId: string;
  /** With another token the row is another authorization, which was not used. */
  readonly tokenHash: Digest;
}

// Locks only grants, without waiting: a locked row is being noted, or decided on, and is noted with its next use.
const markUsed = writeEach<GrantUse>('grant-mark-used', { grant_id: 'uuid', token_hash: 'bytea' })`
update grants set last_used_on = ${TODAY}
 where grant_id = any (array(
   select g.grant_id from grants g
    where g.grant_id = any (@grant_id::uuid[]) and g.token_hash = any (@token_hash::bytea[]) and ${IS_FIRST_USE_OF_GRANT}
      for no key update skip locked))`;

/** Rows that one statement locks: an exchange or an approval of one of them waits for some tens of milliseconds. */
const MAX_ROWS_A_STATEMENT = 500;
/** Uses wait this long for others, so that noting them takes few statements. */
const NOTED_EVERY_MS = 250;
/** If there are more, some are noted with their next use. */
const MAX_WAITING = 10 * MAX_ROWS_A_STATEMENT;

/** By pool: the uses to note. One statement at a time, so that a locked table takes one connection. */
const waiting = new WeakMap<pg.Pool, GrantUse[]>();

/** Notes today as the day of last use of some grants. It is not awaited, and a use that can't be noted is lost. */
export function noteGrantUses(db: pg.Pool, uses: readonly GrantUse[]): void {
  if (uses.length === 0) return;
  const all = waiting.get(db) ?? [];
  all.push(...uses.slice(0, MAX_WAITING - all.length));
  if (waiting.has(db)) return;
  waiting.set(db, all);
  void noteAll(db, all);
}

/** Also those that are added meanwhile. */
async function noteAll(db: pg.Pool, uses: GrantUse[]): Promise<void> {
  while (uses.length > 0) {
    await setTimeout(NOTED_EVERY_MS, undefined, { ref: false });
    const round = uses.splice(0);
    while (round.length > 0) await markUsed(db, round.splice(0, MAX_ROWS_A_STATEMENT)).catch(() => {});
  }
  waiting.delete(db);
}
