import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';

/**
 * A password costs tens of milliseconds of a core. However many people sign in at once, that is done in threads of their
 * own: one core is left to everybody else, and on the others everybody else comes first.
 */
const THREADS = Math.max(1, availableParallelism() - 1);
const NICENESS = 10;
/** What would wait longer than for this many others is turned away. */
const MOST_WAITING = 100;
/** A thread keeps some memory: it ends after so long without work. */
const IDLE_MS = 60_000;

const threads = new Piscina({
  filename: fileURLToPath(new URL('./passwordThread.js', import.meta.url)),
  minThreads: 0,
  maxThreads: THREADS,
  idleTimeout: IDLE_MS,
  niceIncrement: NICENESS,
});

/** More passwords are to be checked than there is time for. */
export class BusyError extends Error {
  constructor() {
    super('too many passwords are waiting to be checked');
  }
}

/** @returns an argon2id hash in PHC string form, with its own salt */
export async function hashPassword(password: string): Promise<string> {
  return threads.run(password.normalize('NFKC'), { name: 'hash' });
}

/**
 * Whether `password` is the one behind `stored`. Without a stored hash the same work is done for nothing,
 * so that the time of an answer doesn't tell whether a login exists.
 *
 * @throws {BusyError}
 */
export async function verifyPassword(stored: string | null, password: string): Promise<boolean> {
  const decoy = await decoyHash(); // awaited always: the first call must not tell either
  if (threads.queueSize >= MOST_WAITING) throw new BusyError();
  const matches = await threads.run(
    { stored: stored ?? decoy, password: password.normalize('NFKC') },
    { name: 'verify' },
  );
  return matches && stored !== null;
}

let decoyMade: Promise<string> | undefined;

function decoyHash(): Promise<string> {
  decoyMade ??= hashPassword('nobody has this password');
  return decoyMade;
}
