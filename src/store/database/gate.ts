import type pg from 'pg';
import { BATCH_WAIT_MS } from '../../rules/common/timeouts.ts';
import { ConnectError } from './errors.ts';

const gates = new WeakMap<pg.Pool, StartupGate>();

/** The gate before a pool; undefined without one, when nothing has to be awaited. */
export function gateOf(pool: pg.Pool): StartupGate | undefined {
  return gates.get(pool);
}

/** Keeps the statements of a pool waiting until it is known whether the database is there, and fails them while it is away. */
export class StartupGate {
  readonly #pool: pg.Pool;
  #cause: unknown;
  #noteTried = () => {};
  /** Resolved by the first `close` or `open`, however long that takes. */
  readonly tried = new Promise<void>((resolve) => {
    this.#noteTried = resolve;
  });

  constructor(pool: pg.Pool) {
    this.#pool = pool;
    gates.set(pool, this);
  }

  /** From now on every statement fails at once with `cause`, which says that the database is away. */
  close(cause: unknown): void {
    this.#cause = cause;
    this.#noteTried();
  }

  /** From now on every statement is carried out. */
  open(): void {
    gates.delete(this.#pool);
    this.#noteTried();
  }

  /** Waits until it is open. @throws what closed it; {@link ConnectError} when the schema is still being migrated after 2 seconds */
  async wait(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, BATCH_WAIT_MS);
    });
    await Promise.race([this.tried, late]);
    clearTimeout(timer);
    if (gates.has(this.#pool))
      throw this.#cause ?? new ConnectError(new Error('its schema is being migrated'));
  }
}
