/**
 * How the process ends before its work is done.
 *
 * SIGINT, SIGTERM and SIGHUP mean the same, and repeats change nothing: a terminal and npm both pass a Ctrl-C on.
 * SIGQUIT (Ctrl-\) ends at once. Every command handles them, because the kernel ignores unhandled signals for PID 1.
 * Fatal signals (SIGSEGV, SIGTRAP …) keep their default action: a handler would return to the same fault.
 */
import { constants } from 'node:os';
import { endMs } from './rules/timeouts.ts';

const END_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const QUIT_SIGNAL = 'SIGQUIT';

const PARENT = process.ppid;
const PARENT_CHECK_MS = 1_000;

/** What makes the process end: a signal, or an error that nothing caught. */
export type Cause = NodeJS.Signals | 'error';

/** Closes what is open. @returns whether the process did its work to the end: then its exit code is 0 */
export type Close = (cause: Cause) => Promise<boolean>;

let close: Close = async () => false;
let drainMs = 0;
let ending = false;

/** Handles the signals from now on. */
export function handleSignals(): void {
  for (const signal of END_SIGNALS) process.on(signal, () => end(signal));
  process.on(QUIT_SIGNAL, () => process.exit(exitCode(QUIT_SIGNAL)));
}

/**
 * Sets what is closed before the end; replaces what was set earlier.
 *
 * @param forMs how long it takes connections after a signal
 */
export function closeBeforeEnd(how: Close, forMs = 0): void {
  close = how;
  drainMs = forMs;
}

/** Closes what is open and exits, at the latest after {@link endMs}. Repeats change nothing. */
export function end(cause: Cause): void {
  if (ending) return;
  ending = true;
  const code = exitCode(cause);
  setTimeout(() => process.exit(code), endMs(cause === 'error' ? 0 : drainMs));
  close(cause)
    .catch((error: Error) => {
      console.error(`not everything could be closed: ${error.message}`);
      return false;
    })
    .then((done) => process.exit(done ? 0 : code));
}

/** Ends when the parent process is gone, however it ended: it can't pass a signal on any more. */
export function endWithParent(): void {
  const look = () => {
    if (process.ppid !== PARENT) end('SIGHUP');
  };
  setInterval(look, PARENT_CHECK_MS).unref();
}

function exitCode(cause: Cause): number {
  return cause === 'error' ? 1 : 128 + constants.signals[cause];
}
