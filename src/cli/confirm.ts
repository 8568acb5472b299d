import { createInterface } from 'node:readline/promises';
import { Option } from 'commander';
import { inJson, UsageError } from './output.ts';

/** The option that answers the question of {@link confirm} beforehand. */
export const YES = new Option('--yes', 'do it without asking');

/** Whether a person can be asked: at a terminal, without `--json`. */
export function canAsk(): boolean {
  return process.stdin.isTTY && !inJson;
}

/**
 * Asks before something is lost for good; only `y` or `yes` goes on. A script has to say `--yes` also where nothing would be
 * lost, so that it isn't refused on the first day that something is.
 *
 * @param lost how much; of nothing a person isn't asked
 * @throws {UsageError} when nobody can be asked
 * @throws {Error} when the answer is no
 */
export async function confirm(deed: string, lost: number): Promise<void> {
  if (!canAsk()) throw new UsageError(`nothing was done: this would ${deed}; say --yes to do it`);
  if (lost > 0 && !/^y(es)?$/i.test((await ask(`This will ${deed}. Go on? [y/N] `)).trim())) {
    throw new Error('nothing was done');
  }
}

/** The same before authorizations are revoked. @param deed what it would do first, as `delete … and ` */
export function confirmRevoking(
  { grants, people }: { readonly grants: number; readonly people: number },
  deed = '',
): Promise<void> {
  const counted = `${grants} ${grants === 1 ? 'authorization' : 'authorizations'}`;
  const what = `${deed}revoke ${counted}${people > 1 ? ` of ${people} people` : ''}`;
  return confirm(what, deed === '' ? grants : 1);
}

async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
  try {
    return await Promise.race([terminal.question(question), closed]); // Ctrl-D is no answer
  } finally {
    terminal.close();
  }
}
