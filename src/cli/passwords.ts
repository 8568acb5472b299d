import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import { Option } from 'commander';
import { readServiceNames } from '../config.ts';
import type { Passwords } from '../flows/operators/users.ts';
import { canAsk } from './confirm.ts';
import { UsageError } from './output.ts';

/** The options of commands that set passwords. */
export const PASSWORD_OPTIONS = [
  new Option(
    '--password-stdin',
    'read the password from line 1 and the payment password, if any, from line 2',
  ),
  new Option('--allow-weak', 'accept passwords that are short, easy to guess, or the same for both'),
];

/** Their values. */
export interface PasswordOptions {
  readonly passwordStdin?: boolean;
  readonly allowWeak?: boolean;
}

/**
 * Asks for the passwords of a user. They are never arguments, which every process on the machine can list.
 *
 * @throws {UsageError} when nobody can be asked
 */
export async function askPasswords(options: PasswordOptions): Promise<Passwords> {
  const { passwordStdin = false, allowWeak = false } = options;
  if (!passwordStdin && !canAsk()) {
    throw new UsageError('passwords are asked for at a terminal, without --json: use --password-stdin');
  }
  const [password, paymentPassword] = await (passwordStdin ? readStdin() : askAtTerminal());
  return { password, paymentPassword: paymentPassword || null, allowWeak, serviceNames: readServiceNames() };
}

type Answers = [password: string, paymentPassword: string];

async function readStdin(): Promise<Answers> {
  const [password = '', paymentPassword = ''] = (await readAll(process.stdin)).split(/\r?\n/);
  return [password, paymentPassword];
}

async function askAtTerminal(): Promise<Answers> {
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
    return [password, paymentPassword];
  } finally {
    terminal.close();
  }
}
