import { createInterface, type Interface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import { Option } from 'commander';
import type { Loss } from '../operations/operation.ts';
import { OperatorError } from '../rules/common/error.ts';
import type { Shell } from './shell.ts';

const canAsk = ({ streams, inJson }: Shell) => streams.stdin.isTTY === true && !inJson;

/** Asks before a loss. Without a terminal `--yes` is needed even for none, so that scripts always say it. @throws {OperatorError} */
export async function confirm(shell: Shell, { deed, count }: Loss): Promise<void> {
  if (!canAsk(shell)) throw new OperatorError('usage', `nothing was done: pass --yes to ${deed}`);
  if (count === 0) return;
  const answer = await atTerminal(shell, { output: shell.streams.stderr }, (terminal) => {
    const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
    return Promise.race([terminal.question(`This will ${deed}. Continue? [y/N] `), closed]); // Ctrl-D gives no answer
  });
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error('nothing was done');
}

/** Reads passwords for commands: from a prompt without echo, or from standard input. */
export const ASKING = {
  options: {
    password: () => [
      new Option(
        '--password-stdin',
        'read the password from line 1 and the payment password, if any, from line 2',
      ),
    ],
    paymentPassword: () => [],
  },
  /** Passwords are never arguments: every process on the machine can list those. @throws {OperatorError} without a terminal */
  async read(
    { passwordStdin = false, externalId }: { passwordStdin?: boolean; externalId?: string },
    shell: Shell,
  ) {
    if (externalId !== undefined && !passwordStdin) return {}; // of a new user, who signs in at a provider
    if (!passwordStdin && !canAsk(shell))
      throw new OperatorError(
        'usage',
        'prompts for passwords need a terminal and no --json: use --password-stdin',
      );
    const [password = '', paymentPassword] = passwordStdin
      ? (await readAll(shell.streams.stdin)).split(/\r?\n/)
      : await askWithoutEcho(shell);
    return { password, paymentPassword: paymentPassword || null };
  },
};

/** Reads standard input: a secret is no argument, since every process can list those. @param what such as `The access token` */
export async function readSecret(shell: Shell, what: string): Promise<string> {
  if (shell.streams.stdin.isTTY) shell.say(`${what}, then Enter and Ctrl-D:`);
  return (await readAll(shell.streams.stdin)).replace(/\r?\n$/, '');
}

/** Readline echoes to its output, so that output is silent; prompts go to standard error. */
function askWithoutEcho(shell: Shell): Promise<string[]> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  return atTerminal(shell, { output: silent, terminal: true }, async (terminal) => {
    const ask = async (question: string) => {
      shell.streams.stderr.write(question);
      const answer = await terminal.question('');
      shell.streams.stderr.write('\n');
      return answer;
    };
    const password = await ask('Password: ');
    if (password !== (await ask('Password again: ')))
      throw new OperatorError('usage', 'the two passwords differ');
    const paymentPassword = await ask('Payment password (empty for none): ');
    if (paymentPassword !== '' && paymentPassword !== (await ask('Payment password again: ')))
      throw new OperatorError('usage', 'the two payment passwords differ');
    return [password, paymentPassword];
  });
}

async function atTerminal<Answer>(
  { streams }: Shell,
  options: { output: Writable; terminal?: true },
  work: (terminal: Interface) => Promise<Answer>,
): Promise<Answer> {
  const terminal = createInterface({ input: streams.stdin, ...options });
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT')); // in raw mode Ctrl-C is a key, not a signal
  try {
    return await work(terminal);
  } finally {
    terminal.close();
  }
}
