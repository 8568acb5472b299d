import type pg from 'pg';
import { STANDBY_MS } from '../../rules/timeouts.ts';
import { runInTurn } from './connection.ts';
import { openDatabase, withConnection } from './database.ts';
import { type Address, parseAddresses } from './databaseUrl.ts';
import { messageOf } from './errors.ts';
import type { Position, Positions } from './position.ts';
import { inOrder } from './query.ts';
import { type BatchQuery, statement } from './statement.ts';

/** Two statements in flight, a check, and one that is being replaced. */
const POOL_SIZE = 4;
/** So many milliseconds a standby may be behind the position, and is waited for: it flushes what it replays. */
const PATIENCE_MS = 50;

/** The standby did not answer in time, or from a state that may not be told. The cause says why. */
export class UnfitStandbyError extends Error {
  override readonly name = 'UnfitStandbyError';

  constructor(cause: unknown) {
    super('a standby is not fit to answer', { cause });
  }
}

// A statement of its own, before the one that reads: a snapshot is taken when a statement begins, so one that looks how far
// the standby is can't at the same time read what is there.
const REACH = statement<Position>(
  'standby-reach',
  `with waited as materialized (
     select count(case when pg_last_wal_replay_lsn() < @lsn::pg_lsn then pg_sleep(0.001)::text end)
       from generate_series(1, ${PATIENCE_MS})
   )
   select coalesce(pg_last_wal_replay_lsn() >= @lsn::pg_lsn, false) as reached from waited`,
);

// After the one that reads: neither the end of being a standby nor another timeline is ever taken back. The control file has the
// timeline of the last restartpoint and that of the last page that was written; behind the truth, never before it.
const LINEAGE = statement(
  'standby-lineage',
  `select pg_is_in_recovery() as "isStandby", (select system_identifier::text from pg_control_system()) as system,
          greatest((select timeline_id from pg_control_checkpoint()),
                   (select min_recovery_end_timeline from pg_control_recovery())) as timeline`,
);

interface Lineage {
  readonly isStandby: boolean;
  readonly system: string;
  readonly timeline: number;
}

/** A standby of the primary. What it says counts only if nothing is missing there that may not be. */
export class Standby {
  /** Host and port. */
  readonly name: string;
  readonly pool: pg.Pool;
  readonly positions: Positions;
  /** Whether questions go there; set by who watches it. */
  isInUse = false;

  constructor(address: Address, password: string | null, positions: Positions) {
    this.name = `${address.host ?? 'localhost'}:${address.port ?? 5432}`;
    this.pool = openDatabase({ ...(password === null ? {} : { password }), ...address }, null, {
      size: POOL_SIZE,
      timeoutMs: STANDBY_MS,
    });
    this.positions = positions;
  }

  /**
   * Runs a statement that reads.
   *
   * @returns its rows in the order of the requests, and the time by the primary's clock: a standby's may be wrong
   * @throws {UnfitStandbyError} and whatever the primary throws when it is asked how far it is
   */
  async read<Row extends { n: number }>(batch: BatchQuery): Promise<{ rows: (Row | null)[]; now: Date }> {
    if (!this.isInUse) throw new UnfitStandbyError(new Error('it is not in use'));
    const { rows, now } = await this.#ask(batch);
    return { rows: inOrder(batch, rows as Row[]), now };
  }

  /** Checks whether it can answer. @throws like {@link read} */
  async check(): Promise<void> {
    await this.#ask(TABLES());
  }

  async #ask(query: pg.QueryConfig): Promise<{ rows: unknown[]; now: Date }> {
    const position = await this.positions.current();
    const rows = await inTime(this.#askSince(position, query)).catch((cause: unknown) => {
      throw new UnfitStandbyError(cause);
    });
    return { rows, now: new Date(position.clock + performance.now() - position.askedAt) };
  }

  async #askSince(position: Position, query: pg.QueryConfig): Promise<unknown[]> {
    const [reach, answer, lineage] = await withConnection(this.pool, (connection) =>
      runInTurn(connection, [REACH(position), query, LINEAGE()]),
    );
    const wrong = whatIsWrong(position, lineage?.rows[0] as Lineage, reach?.rows[0].reached);
    if (wrong !== null) throw new Error(wrong);
    return answer?.rows ?? [];
  }
}

/** Asks for our tables and takes none of their rows. */
const TABLES = statement('standby-tables', 'select from clients limit 0');

/** Why a standby may not answer a question of this position; null when it may. */
function whatIsWrong(
  { system, timeline }: Position,
  standby: Lineage,
  reached: boolean | undefined,
): string | null {
  if (standby.system !== system) return 'it is of another database cluster than the primary';
  if (!standby.isStandby) return 'it is no standby: it was promoted, or never was one';
  if (standby.timeline !== timeline)
    return `it follows timeline ${standby.timeline}, and the primary is on ${timeline}`;
  return reached ? null : 'it is behind the primary';
}

/** A standby that is frozen or cut off says nothing at all. */
function inTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
  let timer: NodeJS.Timeout;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${STANDBY_MS} ms`)), STANDBY_MS);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

/** The standbys that a URL names, one for each host. @throws {AddressError} */
export function openStandbys(url: string, password: string | null, positions: Positions): Standby[] {
  return parseAddresses(url).map((address) => new Standby(address, password, positions));
}

/** A few words on why a standby is not asked, for the log. */
export function explainUnfit(error: unknown): string {
  return messageOf(error instanceof UnfitStandbyError ? error.cause : error);
}
