import { createInterface } from 'node:readline/promises';
import { Option } from 'commander';
import { speaksJson, UsageError } from './output.ts';

/** The option that answers the question of {@link confirm} beforehand. */
export const YES = new Option('--yes', 'do it without asking');

/** Whether a person can be asked: at a terminal, without `--json`. */
export function canAsk(): boolean {
  return process.stdin.isTTY && !speaksJson();
}

/**
 * Asks before something that can't be undone; only `y` or `yes` goes on.
 *
 * @param deed what it would do, as `delete …`
 * @param yes whether it was said beforehand
 * @throws {UsageError} when nobody can be asked
 * @throws {Error} when the answer is no
 */
export async function confirm(deed: string, yes: boolean): Promise<void> {
  if (yes) return;
  if (!canAsk()) throw new UsageError(`nothing was done: this would ${deed}; say --yes to do it`);
  if (!/^y(es)?$/i.test((await ask(`This will ${deed}. Go on? [y/N] `)).trim())) {
    throw new Error('nothing was done');
  }
}

/** For example `3 authorizations of 2 people`. */
export function countedGrants({
  grants,
  people,
}: {
  readonly grants: number;
  readonly people: number;
}): string {
  const counted = `${grants} ${grants === 1 ? 'authorization' : 'authorizations'}`;
  return people > 1 ? `${counted} of ${people} people` : counted;
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
