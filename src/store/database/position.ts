import type pg from 'pg';
import { batched } from './batch.ts';
import { execute, queryRow } from './query.ts';
import { statement } from './statement.ts';

// How old a standby's rows are can't be learned from the standby: one that is cut off believes that it is up to date, and its
// clock may be wrong. So the primary is asked how far it is, and what a standby has not replayed yet is missing there.

/** How far the primary was: whatever it had committed and answered by `askedAt` lies before this place of its history. */
export interface Position {
  /** Of `performance.now()`, before the primary was asked. */
  readonly askedAt: number;
  /** The same moment by the primary's clock, or a little later; in milliseconds since 1970. */
  readonly clock: number;
  /** The database cluster: a standby is a copy of the same. */
  readonly system: string;
  /** The branch of its history: a promoted standby begins another. */
  readonly timeline: number;
  readonly lsn: string;
}

// What is committed and answered is flushed. All but the file of `pg_control_system` is read from shared memory.
const POSITION = statement(
  'primary-position',
  `select (select system_identifier::text from pg_control_system()) as system,
          ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int as timeline,
          pg_current_wal_flush_lsn()::text as lsn,
          floor(extract(epoch from clock_timestamp()) * 1000)::text as clock`,
);

// Whole pages of the WAL may be flushed before the rest of the last record is, and a primary that has nothing to commit leaves it
// at that for a while. No standby can replay that record, so a commit has the rest flushed; on the primary alone.
const WAL_PAGE_BYTES = 8192;
const COMPLETE = statement(
  'primary-complete',
  `select set_config('synchronous_commit', 'local', true), pg_logical_emit_message(true, 'assent', '')`,
);

interface Place extends Pick<Position, 'system' | 'timeline' | 'lsn'> {
  readonly clock: string;
}

async function findPlace(primary: pg.Pool): Promise<Place> {
  const place = await queryRow<Place>(primary, POSITION());
  if (Number.parseInt(place.lsn.split('/')[1] ?? '', 16) % WAL_PAGE_BYTES !== 0) return place;
  await execute(primary, COMPLETE());
  return queryRow<Place>(primary, POSITION());
}

/** Asks the primary how far it is. Those who ask together share the answer: it was asked for after each of them came. */
const askPosition = batched(
  'wal-position',
  async (primary: pg.Pool, asking: readonly null[]): Promise<Position[]> => {
    const askedAt = performance.now();
    const { clock, ...place } = await findPlace(primary);
    const position = { ...place, askedAt, clock: Number(clock) };
    return asking.map(() => position);
  },
);

/** So many times within `lagMs` the position is asked for anew, without anybody waiting for it. */
const PER_LAG = 4;

/** The positions of a primary that may still be used. */
export class Positions {
  readonly primary: pg.Pool;
  /** How old the state may be that a question is answered from; 0 for none older than the question itself. */
  readonly lagMs: number;
  /** Oldest first. */
  #known: Position[] = [];
  #asking = false;

  constructor(primary: pg.Pool, lagMs: number) {
    this.primary = primary;
    this.lagMs = lagMs;
  }

  /**
   * The earliest position that answers a question of now: what it misses was committed at most `lagMs` ago.
   *
   * @throws when the primary has to be asked and is away
   */
  async current(): Promise<Position> {
    if (this.lagMs === 0) return askPosition(this.primary, null);
    const now = performance.now();
    this.#known = this.#known.filter(({ askedAt }) => askedAt >= now - this.lagMs);
    const [oldest, newest] = [this.#known[0], this.#known.at(-1)];
    if (oldest === undefined || newest === undefined) return this.#ask();
    if (newest.askedAt < now - this.lagMs / PER_LAG && !this.#asking) this.#ask().catch(() => {});
    return oldest;
  }

  async #ask(): Promise<Position> {
    this.#asking = true;
    try {
      const position = await askPosition(this.primary, null);
      if (this.#known.at(-1) !== position) this.#known.push(position);
      return position;
    } finally {
      this.#asking = false;
    }
  }
}
