/**
 * How the process ends before its work is done.
 *
 * SIGINT, SIGTERM and SIGHUP are one wish, however many of them come: a terminal and npm both pass a Ctrl-C on. SIGQUIT
 * (Ctrl-\) is the insistence that waits for nothing. They are handled in every command, because a process that runs as
 * PID 1 is spared what it does not handle. All other signals keep their default: what the engine raises when it is
 * broken (SIGSEGV, SIGTRAP …) would come again and again behind a handler.
 */
import { constants } from 'node:os';

const WISHES = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const INSISTENCE = 'SIGQUIT';

/** How long closing may take, all before a container's usual 10 seconds are over. */
const CLOSE_MS = 9_000;

const PARENT = process.ppid;
const PARENT_CHECK_MS = 1_000;

/** What makes the process end: a signal, or an error that nothing caught. */
export type Cause = NodeJS.Signals | 'error';

/** Closes what is open. @returns whether the process has done all that it was there for: then its exit code is 0 */
export type Close = (cause: Cause) => Promise<boolean>;

let close: Close = async () => false;
let ending = false;

/** Handles the signals from now on. */
export function handleSignals(): void {
  for (const signal of WISHES) process.on(signal, () => end(signal));
  process.on(INSISTENCE, () => process.exit(exitCode(INSISTENCE)));
}

/** Says what is to be closed before the end, in place of what was said before. */
export function closeBeforeEnd(how: Close): void {
  close = how;
}

/** Closes what is open and exits, at the latest after {@link CLOSE_MS}. Once is enough: a repeat changes nothing. */
export function end(cause: Cause): void {
  if (ending) return;
  ending = true;
  const code = exitCode(cause);
  setTimeout(() => process.exit(code), CLOSE_MS);
  close(cause)
    .catch((error: Error) => {
      console.error(`not everything could be closed: ${error.message}`);
      return false;
    })
    .then((done) => process.exit(done ? 0 : code));
}

/** Ends when the process that started this one is gone, however it went: it can't pass a signal on any more. */
export function endWithParent(): void {
  const look = () => {
    if (process.ppid !== PARENT) end('SIGHUP');
  };
  setInterval(look, PARENT_CHECK_MS).unref();
}

function exitCode(cause: Cause): number {
  return cause === 'error' ? 1 : 128 + constants.signals[cause];
}
