import { type DestinationStream, type Logger, pino } from 'pino';

/** JSON lines on standard output: an ISO time, the level as a word, and for errors no row data of PostgreSQL. */
export function openLog(level: string): Logger {
  const options = {
    level,
    base: null,
    timestamp: timeOfLine,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: describeError },
  };
  const destination = pino.destination({ dest: process.stdout.fd, sync: true });
  // A full disk under the log must not end the service: it is said once where somebody may see it.
  process.stderr.on('error', () => {});
  destination.once('error', (error: Error) => console.error(`the log can't be written: ${error.message}`));
  destination.on('error', () => {});
  return pino(options, writeEachTurn(destination));
}

let lastMs = 0;
let lastTime = '';

/** The time as pino's own `isoTime` has it, written out once for all lines of a millisecond. */
function timeOfLine(): string {
  const now = Date.now();
  if (now !== lastMs) {
    lastMs = now;
    lastTime = `,"time":"${new Date(now).toISOString()}"`;
  }
  return lastTime;
}

/**
 * Writes the lines of one turn of the event loop together at its end: many requests at once share one system call, and
 * the line of a single one waits for nothing. When the process ends, what there is left is written first.
 */
function writeEachTurn(destination: DestinationStream): DestinationStream {
  let lines = '';
  const write = () => {
    if (lines !== '') destination.write(lines);
    lines = '';
  };
  process.once('exit', write);
  return {
    write(line) {
      if (lines === '') setImmediate(write);
      lines += line;
    },
  };
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
