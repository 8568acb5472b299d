import { createInterface } from 'node:readline/promises';
import { Option } from 'commander';
import { inJson, UsageError } from './output.ts';

/** The option that answers the question of {@link confirmRevoking} beforehand. */
export const YES = new Option('--yes', 'do it without asking');

/** Whether a person can be asked: at a terminal, without `--json`. */
export function canAsk(): boolean {
  return process.stdin.isTTY && !inJson;
}

/**
 * Asks before authorizations are revoked for good; only `y` or `yes` goes on.
 *
 * @param deed what it would do first, as `delete … and `
 * @throws {UsageError} when nobody can be asked
 * @throws {Error} when the answer is no
 */
export async function confirmRevoking(
  { grants, people }: { readonly grants: number; readonly people: number },
  deed = '',
): Promise<void> {
  const counted = `${grants} ${grants === 1 ? 'authorization' : 'authorizations'}`;
  const what = `${deed}revoke ${counted}${people > 1 ? ` of ${people} people` : ''}`;
  if (!canAsk()) throw new UsageError(`nothing was done: this would ${what}; say --yes to do it`);
  if (!/^y(es)?$/i.test((await ask(`This will ${what}. Go on? [y/N] `)).trim())) {
    throw new Error('nothing was done');
  }
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
