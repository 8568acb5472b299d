import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { MAX_PASSWORD_BYTES } from '../rules/limits.ts';
import { type Lane, passwordRefused, passwordTurn } from '../signals/timings.ts';
import { FairQueue } from './fairQueue.ts';

/** A thread with its 19 MiB for a check, and some room. */
const THREAD_BYTES = 32 * 2 ** 20;
/** Of the memory of a container so much may be theirs. */
const MEMORY_SHARE = 1 / 3;

/**
 * Hashing takes tens of milliseconds of a core: it is done in threads of low priority that leave one core free. A container
 * may have few megabytes on a machine of many cores.
 *
 * @param cores that may be used @param memory in bytes; 0 for no limit
 */
export function passwordThreads(cores: number, memory: number): number {
  const fitting = memory === 0 ? Infinity : Math.floor((memory * MEMORY_SHARE) / THREAD_BYTES);
  return Math.max(1, Math.min(cores - 1, fitting));
}

const THREADS = passwordThreads(availableParallelism(), process.constrainedMemory() ?? 0);
let maxThreads = THREADS;
const NICENESS = 10;
/** Checks that may wait in each lane. */
const PLACES = 100;
/** A thread without work ends, and frees its memory. */
const IDLE_MS = 60_000;

let pool: Piscina | undefined;

function threads(): Piscina {
  pool ??= new Piscina({
    filename: fileURLToPath(new URL('./passwordThread.js', import.meta.url)),
    minThreads: 0,
    maxThreads,
    idleTimeout: IDLE_MS,
    niceIncrement: NICENESS,
  });
  return pool;
}

/** Leaves the other processes of this service their part of the threads. Call it before the first password comes. */
export function sharePasswordThreads(processes: number): void {
  maxThreads = Math.max(1, Math.floor(THREADS / processes));
}

/** Too many passwords wait for their check. */
export class BusyError extends Error {
  override readonly name = 'BusyError';

  constructor() {
    super('too many passwords are waiting to be checked');
  }
}

/** The place of a check in the queue. */
export interface Turn {
  /** Known devices and signed-in users have a lane of their own: strangers can't fill it. */
  readonly lane: Lane;
  /** Checks of one share (a network, a user) wait behind each other; shares take turns. */
  readonly share: string;
  /** Time of `performance.now()` after which the caller no longer waits for the result. */
  readonly until: number;
}

interface Check extends Pick<Turn, 'lane' | 'until'> {
  readonly stored: string;
  readonly password: string;
  readonly since: number;
  resolve(matches: Promise<boolean>): void;
  reject(error: unknown): void;
}

const LANES = { known: new FairQueue<Check>(PLACES), stranger: new FairQueue<Check>(PLACES) };

let decoyHash: Promise<string> | undefined;
let running = 0;
let lastLane: Lane = 'stranger';

/** @returns an argon2id hash in PHC string form, with its own salt */
export async function hashPassword(password: string): Promise<string> {
  return threads().run(password, { name: 'hash' });
}

/** Fails early when there is no place for another check. @throws {BusyError} */
export function requirePlace({ lane, share }: Turn): void {
  if (!LANES[lane].hasRoom(share)) throw refusal(lane);
}

function refusal(lane: Lane): BusyError {
  passwordRefused.send({ lane });
  return new BusyError();
}

/** How many checks wait now. */
export function waitingChecks(lane: Lane): number {
  return LANES[lane].size;
}

/**
 * Whether `password` is the one behind `stored`. Without a stored hash, or with a password that is too long, a decoy is
 * checked instead, so that the time of a response doesn't tell whether a login exists.
 *
 * @throws {BusyError} when there is no place, or the turn did not come in time
 */
export async function verifyPassword(stored: string | null, password: string, turn: Turn): Promise<boolean> {
  decoyHash ??= hashPassword('nobody has this password');
  const decoy = { stored: await decoyHash, password: '' }; // always: the first call must take the same time, too
  const possible = stored !== null && Buffer.byteLength(password) <= MAX_PASSWORD_BYTES;
  const work = possible ? { stored, password } : decoy;
  const matches = await inTurn(turn, work);
  return matches && possible;
}

function inTurn({ lane, share, until }: Turn, work: { stored: string; password: string }): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const check = { ...work, lane, until, since: performance.now(), resolve, reject };
    const displaced = LANES[lane].push(share, check);
    displaced?.reject(refusal(lane));
    startChecks();
  });
}

/** Gives free threads the next checks, from the two lanes in turn. */
function startChecks(): void {
  while (running < maxThreads) {
    const check = nextCheck();
    if (check === undefined) return;
    const now = performance.now();
    if (now >= check.until) {
      check.reject(refusal(check.lane));
      continue;
    }
    passwordTurn.send({ lane: check.lane, waitSeconds: (now - check.since) / 1000 });
    check.resolve(run(check));
  }
}

function nextCheck(): Check | undefined {
  const other = lastLane === 'known' ? 'stranger' : 'known';
  for (const lane of [other, lastLane] as const) {
    const check = LANES[lane].shift();
    if (check === undefined) continue;
    lastLane = lane;
    return check;
  }
  return undefined;
}

async function run({ stored, password }: Check): Promise<boolean> {
  running += 1;
  try {
    return await threads().run({ stored, password }, { name: 'verify' });
  } finally {
    running -= 1;
    startChecks();
  }
}
