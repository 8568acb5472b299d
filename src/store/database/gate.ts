import { setTimeout } from 'node:timers/promises';
import type pg from 'pg';
import { BATCH_WAIT_MS } from '../../rules/common/timeouts.ts';
import { ConnectError } from './errors.ts';

/** The gates of pools; a pool without one has nothing to wait for. */
export const gateOf = new WeakMap<pg.Pool, StartupGate>();

/** Holds a pool's statements until the database's state is known, and fails them while it is unreachable. */
export class StartupGate {
  readonly #pool: pg.Pool;
  #cause: unknown;
  #noteTried = () => {};
  /** Resolved by the first `close` or `open`, after any time. */
  readonly tried = new Promise<void>((resolve) => {
    this.#noteTried = resolve;
  });

  constructor(pool: pg.Pool) {
    this.#pool = pool;
    gateOf.set(pool, this);
  }

  /** From now on every statement fails at once with `cause`, the error of the unreachable database. */
  close(cause: unknown): void {
    this.#cause = cause;
    this.#noteTried();
  }

  /** From now on every statement runs. */
  open(): void {
    gateOf.delete(this.#pool);
    this.#noteTried();
  }

  /** Waits until it is open. @throws the cause of closing; {@link ConnectError} if the migration takes more than 2 seconds */
  async wait(): Promise<void> {
    await Promise.race([this.tried, setTimeout(BATCH_WAIT_MS, undefined, { ref: false })]);
    if (gateOf.has(this.#pool))
      throw this.#cause ?? new ConnectError(new Error('its schema is being migrated'));
  }
}
