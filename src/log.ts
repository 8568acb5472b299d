import { type Logger, pino } from 'pino';

/** JSON lines on standard output: an ISO time, the level as a word, and for errors no row data of PostgreSQL. */
export function openLog(level: string): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: describeError },
  };
  // Written before the next line of code runs: the last line before an end is the one that matters.
  const destination = pino.destination({ dest: process.stdout.fd, sync: true });
  // A full disk under the log must not end the service: it is said once where somebody may see it.
  process.stderr.on('error', () => {});
  destination.once('error', (error: Error) => console.error(`the log can't be written: ${error.message}`));
  destination.on('error', () => {});
  return pino(options, destination);
}

/** A database error carries the row that failed (`detail`): what is in rows stays out of logs. */
function describeError(error: Error & { code?: string }): object {
  return {
    type: error.name,
    message: error.message,
    code: error.code,
    stack: error.stack,
    ...(error.cause instanceof Error ? { cause: describeError(error.cause) } : {}),
  };
}
