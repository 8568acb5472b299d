import type pg from 'pg';
import { BATCH_WAIT_MS } from '../../rules/timeouts.ts';
import { ConnectError } from './errors.ts';

/** Keeps the statements of a pool waiting, or fails them, until the database can be worked on. */
export interface Gate {
  /** From now on every statement fails at once with `cause`, which says that the database is away. */
  close(cause: unknown): void;
  /** From now on every statement is carried out. */
  open(): void;
}

interface State {
  cause: unknown;
  /** Resolved by the first `close` or `open`. */
  readonly tried: Promise<void>;
}

const states = new WeakMap<pg.Pool, State>();

/** Makes a gate before a pool. Until it is known whether the database is there, statements wait for that. */
export function putGate(pool: pg.Pool): Gate {
  let noteTried = () => {};
  const tried = new Promise<void>((resolve) => {
    noteTried = resolve;
  });
  const state: State = { cause: undefined, tried };
  states.set(pool, state);
  return {
    close(cause) {
      state.cause = cause;
      noteTried();
    },
    open() {
      states.delete(pool);
      noteTried();
    },
  };
}

/** Whether a gate is before the pool: without one, nothing has to be awaited. */
export function hasGate(pool: pg.Pool): boolean {
  return states.has(pool);
}

/** Waits until it is known whether the database is there, however long that takes. */
export async function whenTried(pool: pg.Pool): Promise<void> {
  await states.get(pool)?.tried;
}

/**
 * Passes the gate of a pool.
 *
 * @throws what closed it; {@link ConnectError} when the schema is still being migrated after 2 seconds
 */
export async function passGate(pool: pg.Pool): Promise<void> {
  const state = states.get(pool);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, BATCH_WAIT_MS);
  });
  await Promise.race([state?.tried, late]);
  clearTimeout(timer);
  if (states.has(pool)) throw state?.cause ?? new ConnectError(new Error('its schema is being migrated'));
}
