import type { Logger } from 'pino';
import { readConfig } from './config.ts';
import { end, endWithParent } from './ending.ts';
import { openLog } from './log.ts';
import { setV8Flags } from './v8Flags.ts';
import { leaveWorkers, superviseWorkers, tellStarted } from './workers.ts';

/**
 * Runs the server until a signal, in this process or in several.
 *
 * @throws what kept it from starting and does not pass by waiting; nothing is left running then
 */
export async function serve(): Promise<void> {
  setV8Flags();
  const config = readConfig();
  const log = openLog(config.logLevel, config.worker);
  endByUncaughtError(log);
  if (config.worker === null) for (const warning of config.warnings) log.warn(warning);
  if (config.startedByNpm) endWithParent();
  if (config.workers > 1 && config.worker === null) return superviseWorkers(config, log);
  try {
    // The process that only starts workers has none of it in its memory.
    const { runServer } = await import('./server.ts');
    await runServer(config, log);
    tellStarted();
  } catch (error) {
    leaveWorkers();
    throw error;
  }
}

/** The first uncaught error ends the server in order; a second one meanwhile ends it at once. */
function endByUncaughtError(log: Logger): void {
  let broken = false;
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'stopping after an error that nothing caught');
    if (broken) process.exit(1);
    broken = true;
    end('error');
  });
}
