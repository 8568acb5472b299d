import type { Logger } from 'pino';
import { readConfig } from '../config/config.ts';
import { isLoopback } from '../rules/common/network.ts';
import { end, endWithParent } from './ending.ts';
import { openLog } from './log.ts';
import { setV8Flags } from './v8Flags.ts';

/** Runs the server until a signal. @throws {ConfigError}, and what `runServer` throws */
export async function serve(): Promise<void> {
  setV8Flags();
  const config = readConfig();
  const log = openLog(config.logLevel);
  endByUncaughtError(log);
  for (const warning of config.warnings) log.warn(warning);
  if (config.baseUrl.startsWith('http:') && !isLoopback(new URL(config.baseUrl).hostname))
    log.warn(`BASE_URL ${config.baseUrl} is plain http: passwords, codes and tokens travel unencrypted.`);
  if (config.adminPort !== null && !isLoopback(config.adminHost))
    log.warn(
      `ADMIN_HOST ${config.adminHost}: the operators’ API has no TLS, so only a trusted network may reach it.`,
    );
  if (config.startedByNpm) endWithParent();
  // Loaded only now: V8's flags must be set before any of it is optimized.
  const { runServer } = await import('./server.ts');
  await runServer(config, log);
}

/** The first uncaught error ends the server gracefully, a second one immediately. */
function endByUncaughtError(log: Logger): void {
  let broken = false;
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'stopping after an uncaught error');
    if (broken) process.exit(1);
    broken = true;
    end(null);
  });
}
