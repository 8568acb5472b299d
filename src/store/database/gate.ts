import { setTimeout } from 'node:timers/promises';
import type pg from 'pg';
import { BATCH_WAIT_MS } from '../../rules/common/timeouts.ts';
import { ConnectError } from './errors.ts';

/** Holds a pool's statements until its database is migrated, and fails them while it is unreachable. */
export interface Gate {
  /** Resolved by the first attempt to migrate, after any time. */
  readonly tried: Promise<void>;
  /** The error of the last attempt. */
  cause?: unknown;
}

/** The closed gates. */
export const gateOf = new WeakMap<pg.Pool, Gate>();

/** Waits until the gate is open. @throws its cause; {@link ConnectError} if the migration takes more than 2 seconds */
export async function passGate(pool: pg.Pool): Promise<void> {
  await Promise.race([gateOf.get(pool)?.tried, setTimeout(BATCH_WAIT_MS, undefined, { ref: false })]);
  const closed = gateOf.get(pool);
  if (closed !== undefined) throw closed.cause ?? new ConnectError(new Error('its schema is being migrated'));
}
