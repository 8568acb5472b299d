import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import type { Passwords } from '../flows/users.ts';
import { canAsk } from './confirm.ts';
import { UsageError } from './output.ts';

/**
 * Asks for the passwords of a user. They are never arguments, which every process on the machine can list.
 *
 * @throws {UsageError} when nobody can be asked
 */
export async function askPasswords(fromStdin: boolean): Promise<Passwords> {
  if (fromStdin) {
    const [password = '', paymentPassword = ''] = (await readAll(process.stdin)).split(/\r?\n/);
    return { password, paymentPassword: paymentPassword || null };
  }
  if (!canAsk()) {
    throw new UsageError('passwords are asked for at a terminal, without --json: use --password-stdin');
  }
  return askAtTerminal();
}

async function askAtTerminal(): Promise<Passwords> {
  // Readline echoes to its output, so it gets one that shows nothing; the questions go to standard error.
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true });
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT')); // in raw mode Ctrl-C is a key, not a signal
  const ask = async (question: string) => {
    process.stderr.write(question);
    const answer = await terminal.question('');
    process.stderr.write('\n');
    return answer;
  };
  try {
    const password = await ask('Password: ');
    if (password !== (await ask('Password again: '))) throw new UsageError('the two passwords differ');
    const paymentPassword = await ask('Payment password (empty for none): ');
    if (paymentPassword !== '' && paymentPassword !== (await ask('Payment password again: '))) {
      throw new UsageError('the two payment passwords differ');
    }
    return { password, paymentPassword: paymentPassword || null };
  } finally {
    terminal.close();
  }
}
