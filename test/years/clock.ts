import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/**
 * The clock of all processes that get {@link Clock.variables}, by libfaketime. It runs, and can be set. Timers run on, as on a
 * machine whose clock is set.
 */
export class Clock {
  readonly #folder: string;
  readonly #skews = new Map([['all', 0]]);
  readonly #library: string;
  /** Milliseconds ahead of the real clock. */
  #ahead = 0;

  /** @param folder that every process may read @param library of libfaketime */
  constructor(folder: string, library: string) {
    this.#folder = folder;
    this.#library = library;
    this.#write();
  }

  /** For a process. @param name of a clock of its own, see {@link skew} */
  variables(name = 'all'): Record<string, string> {
    return {
      LD_PRELOAD: this.#library,
      FAKETIME_TIMESTAMP_FILE: this.#file(name),
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
  }

  /** Sets the clock, also back. */
  set(time: number): void {
    this.#ahead += time - this.now();
    this.#write();
  }

  /** This process has the clock, too. */
  now(): number {
    return Date.now();
  }

  /** A clock of its own that is so much ahead of the others. */
  skew(name: string, ms: number): void {
    this.#skews.set(name, ms);
    this.#write();
  }

  #file = (name: string) => join(this.#folder, `clock-${name}`);

  #write(): void {
    for (const [name, skew] of this.#skews) {
      const seconds = (this.#ahead + skew) / SECOND;
      // In one step: a process may read it at any moment.
      const written = `${this.#file(name)}-next`;
      writeFileSync(written, `${seconds < 0 ? '' : '+'}${seconds.toFixed(3)}`, { mode: 0o644 });
      renameSync(written, this.#file(name));
    }
  }
}

/** The same day and time so many years later; 28 February for 29 February. UTC, as the lifetime of tokens (contract 5.1). */
export function yearsAfter(time: number, years: number): number {
  const date = new Date(time);
  const month = date.getUTCMonth();
  date.setUTCFullYear(date.getUTCFullYear() + years);
  if (date.getUTCMonth() !== month) date.setUTCDate(0);
  return date.getTime();
}
