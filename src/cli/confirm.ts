import { createInterface } from 'node:readline/promises';
import { UsageError } from './output.ts';

/** What a command that can't be undone takes instead of an answer. */
export const YES = ['--yes', 'don’t ask'] as const;

/**
 * Asks at the terminal before something that can't be undone; only `y` or `yes` goes on.
 *
 * @param what happens, as a sentence
 * @param yes whether it was said beforehand
 * @throws {UsageError} when there is no terminal to ask at
 * @throws {Error} when the answer is no
 */
export async function confirm(what: string, yes: boolean): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY) throw new UsageError(`${what}; say --yes to do it`);
  if (!/^y(es)?$/i.test((await ask(`${what}. Go on? [y/N] `)).trim())) throw new Error('nothing was done');
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
