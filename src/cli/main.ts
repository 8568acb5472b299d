import { readFileSync } from 'node:fs';
import { OperatorError } from '../rules/common/error.ts';
import { EXIT_USAGE, Shell, type Streams, withOptionNames } from './shell.ts';

const EXIT_FAILED = 1;
const USAGE: readonly string[] = ['usage', 'invalid_field', 'unknown_after'];

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** Runs a command; `serve` and `notify` need a process of their own, since they take the signals. @returns 0 for success, 2 for wrong usage */
export async function main(argv: readonly string[], streams: Streams): Promise<number> {
  const shell = new Shell(argv, streams);
  try {
    // Loading takes longer than most commands, so each of these loads only its own needs.
    if (argv.join() === '--version') shell.print({ version }, version);
    else if (argv.join() === 'serve') await (await import('../process/serve.ts')).serve();
    else if (argv.join() === 'notify') await (await import('../process/notify.ts')).notify();
    else await (await import('./program.ts')).runCommand(argv, shell, version);
    return shell.exitCode;
  } catch (error) {
    const { explainTrouble } = await import('../store/database/errors.ts');
    shell.complain(withOptionNames(explainTrouble(error)));
    return error instanceof OperatorError && USAGE.includes(error.reason) ? EXIT_USAGE : EXIT_FAILED;
  }
}
