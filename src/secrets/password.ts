import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import pLimit from 'p-limit';

/** OWASP's first recommendation for argon2id: 19 MiB, 2 passes, 1 lane. The library's default is argon2id. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/**
 * A password costs tens of milliseconds of a core. However many people sign in, a core is left for everybody else, and
 * what could not be answered soon is turned away.
 */
const MOST_AT_ONCE = Math.max(1, availableParallelism() - 1);
const MOST_WAITING = 100;
const atOnce = pLimit(MOST_AT_ONCE);

/** More passwords are to be checked than there is time for. */
export class BusyError extends Error {
  constructor() {
    super('too many passwords are waiting to be checked');
  }
}

function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  if (atOnce.pendingCount >= MOST_WAITING) throw new BusyError();
  return atOnce(work);
}

/** @returns an argon2id hash in PHC string form, with its own salt */
export async function hashPassword(password: string): Promise<string> {
  return inTurn(() => hash(password.normalize('NFKC'), COST));
}

/**
 * Whether `password` is the one behind `stored`. Without a stored hash the same work is done for nothing,
 * so that the time of an answer doesn't tell whether a login exists.
 *
 * @throws {BusyError}
 */
export async function verifyPassword(stored: string | null, password: string): Promise<boolean> {
  const decoy = await decoyHash(); // awaited always: the first call must not tell either
  const matches = await inTurn(() => verify(stored ?? decoy, password.normalize('NFKC')));
  return matches && stored !== null;
}

let decoyMade: Promise<string> | undefined;

function decoyHash(): Promise<string> {
  decoyMade ??= hash('nobody has this password', COST); // out of turn: it must not be turned away
  return decoyMade;
}
