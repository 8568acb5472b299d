import { networkOf } from '../rules/network.ts';
import { requirePlace, type Turn } from '../secrets/password.ts';
import type { Caller } from '../store/auditEvents.ts';
import type { Context } from './context.ts';
import type { Guarded } from './device.ts';
import { countersOf, settleTry, takeTry } from './throttle.ts';

/** A try at a password. */
export interface Guess {
  readonly guarded: Guarded;
  /** In the one spelling that counters are kept under. Whether anybody has it does not matter. */
  readonly login: string;
  /** The name of the known device that it is made with; undefined for none. */
  readonly device: string | undefined;
}

/** What comes of a try. */
export type Outcome<Right> =
  | { readonly outcome: 'right'; readonly right: Right }
  /** `notable`: the counter by which the audit trail should be told, where it should. */
  | { readonly outcome: 'wrong'; readonly notable: number | null }
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
  const turn = turnOf(guess, caller);
  requirePlace(turn);
  const counters = countersOf(context, { ...guess, network: networkOf(caller.address) });
  const { waitSeconds, notable } = await takeTry(context.db, counters);
  if (waitSeconds > 0) return { outcome: 'wait', waitSeconds };
  let right: Right | undefined;
  try {
    right = await check(turn);
  } catch (error) {
    await settleTry(context.db, { counters, right: false });
    throw error;
  }
  if (right === undefined) return { outcome: 'wrong', notable };
  await settleTry(context.db, { counters, right: true });
  return { outcome: 'right', right };
}

/** A payment password is typed by a user who is signed in, so it is never a stranger's. */
function turnOf({ guarded, login, device }: Guess, { address, decideBy }: Caller): Turn {
  return device !== undefined || guarded === 'payment password'
    ? { lane: 'known', share: login, until: decideBy }
    : { lane: 'stranger', share: networkOf(address), until: decideBy };
}
