import { requirePlace, type Turn } from '../secrets/password.ts';
import type { Caller, Context } from './context.ts';
import { type Guarded, readDevice } from './device.ts';
import { networkOf } from './network.ts';
import { countersOf } from './throttle.ts';

/** A try at a password. */
export interface Guess {
  readonly guarded: Guarded;
  /** In the one spelling that counters are kept under. Whether anybody has it does not matter. */
  readonly login: string;
  /** The device cookie that the browser sent. */
  readonly deviceCookie: string | undefined;
}

/** What comes of a try. */
export type Outcome<Right> =
  | { readonly outcome: 'right'; readonly right: Right }
  | { readonly outcome: 'wrong'; readonly notable: boolean }
  | { readonly outcome: 'wait'; readonly waitSeconds: number };

/**
 * Makes a try at a password, if it may be made now.
 *
 * @param check looks at the password, in its turn; undefined when it is wrong
 * @throws {BusyError} when too many passwords are being checked: then the try does not count
 */
export async function tryPassword<Right>(
  context: Context,
  guess: Guess,
  caller: Caller,
  check: (turn: Turn) => Promise<Right | undefined>,
): Promise<Outcome<Right>> {
  const device = readDevice(context, guess.guarded, guess.login, guess.deviceCookie);
  const turn = turnOf(guess, device !== undefined, caller);
  requirePlace(turn);
  const counters = countersOf(context, { ...guess, device, network: networkOf(caller.address) });
  const { waitSeconds, notable } = await context.takeTry(counters);
  if (waitSeconds > 0) return { outcome: 'wait', waitSeconds };
  let right: Right | undefined;
  try {
    right = await check(turn);
  } catch (error) {
    await context.settleTry({ counters, right: false });
    throw error;
  }
  if (right === undefined) return { outcome: 'wrong', notable };
  await context.settleTry({ counters, right: true });
  return { outcome: 'right', right };
}

/** A payment password is typed by a user who is signed in, so it is never a stranger's. */
function turnOf({ guarded, login }: Guess, isKnown: boolean, { address, decideBy }: Caller): Turn {
  return isKnown || guarded === 'payment password'
    ? { lane: 'known', share: login, until: decideBy }
    : { lane: 'stranger', share: networkOf(address), until: decideBy };
}
