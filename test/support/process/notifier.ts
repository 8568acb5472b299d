import { once } from 'node:events';
import { expect, onTestFinished } from 'vitest';
import { start } from './process.ts';
import { outputOf } from './program.ts';

/** Starts `assent notify`, waits until its log has a line, and ends it with the test. */
export async function startNotifier(variables: Record<string, string>, line = '"notifying"') {
  const child = start(['notify'], { ...variables, LOG_LEVEL: 'info' });
  const log = outputOf(child);
  /** @returns the exit code, null when the signal ended it */
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      await once(child, 'close');
    }
    return child.exitCode;
  };
  onTestFinished(async () => void (await stop()));
  await expect.poll(log, { timeout: 60_000 }).toContain(line);
  return { stop, log };
}
