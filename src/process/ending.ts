import { constants } from 'node:os';
import { maxShutdownMs } from '../rules/common/timeouts.ts';

// Every command handles these, since PID 1 has no default for them. Fatal signals (SIGSEGV, SIGTRAP …) keep their default: a
// handler would return to the same fault.
const END_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const PARENT = process.ppid;
const PARENT_CHECK_MS = 1_000;

export interface Shutdown {
  /** Null for an error. */
  readonly signal: NodeJS.Signals | null;
  /** True: requests and statements in progress finish first. False: they are aborted. */
  readonly inOrder: boolean;
}

/** Functions that close resources; the end calls the last one first. */
const closers: ((shutDown: Shutdown) => Promise<unknown> | undefined)[] = [];

/** Set once a server is ready: its drain time after a signal, and a callback after everything is closed. */
let serving: { readonly drainMs: number; closed(): void } | undefined;
let isEnding = false;

export function handleSignals(): void {
  for (const signal of END_SIGNALS) process.on(signal, () => end(signal));
  process.on('SIGQUIT', (signal) => process.exit(exitCode(signal)));
}

/** Registers a closer; closers of later resources run before it. */
export function onEnd(close: (end: Shutdown) => Promise<unknown> | undefined): void {
  closers.push(close);
}

/** From now on the end is graceful, with exit code 0 after a signal. Until then it aborts work in progress. */
export function endInOrder(drainMs: number, closed: () => void): void {
  serving = { drainMs, closed };
}

/** Runs the closers, from the last to the first. A failing one is reported and doesn't stop the others. */
export async function closeAll(how: Shutdown): Promise<void> {
  for (let close = closers.pop(); close !== undefined; close = closers.pop()) {
    try {
      await close(how);
    } catch (error) {
      console.error(`not everything could be closed: ${(error as Error).message}`);
    }
  }
}

/** Closes all and exits, at the latest after {@link maxShutdownMs}. Repeats change nothing: a terminal and npm both forward Ctrl-C. */
export function end(signal: Shutdown['signal']): void {
  if (isEnding) return;
  isEnding = true;
  const code = signal === null ? 1 : exitCode(signal);
  setTimeout(() => process.exit(code), maxShutdownMs(signal === null ? 0 : (serving?.drainMs ?? 0)));
  closeAll({ signal, inOrder: serving !== undefined }).then(() => {
    serving?.closed();
    process.exit(serving !== undefined && signal !== null ? 0 : code);
  });
}

/** Ends when the parent process is gone, since that can no longer forward a signal. */
export function endWithParent(): void {
  setInterval(() => {
    if (process.ppid !== PARENT) end('SIGHUP');
  }, PARENT_CHECK_MS).unref();
}

function exitCode(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}
