import { type DestinationStream, type Logger, pino } from 'pino';

/** What several processes write into one pipe stays whole up to this length (POSIX: `PIPE_BUF`). */
const PIPE_BYTES = 4_096;

/**
 * JSON lines on standard output: an ISO time, the level as a word, and for errors no row data of PostgreSQL.
 *
 * @param worker which of several processes writes, null for an only one
 */
export function openLog(level: string, worker: number | null = null): Logger {
  const options = {
    level,
    base: worker === null ? null : { worker },
    timestamp: timeOfLine,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: describeError },
  };
  const destination = pino.destination({ dest: process.stdout.fd, sync: true });
  // A full disk under the log must not end the service: one line on standard error says so.
  process.stderr.on('error', () => {});
  destination.once('error', (error: Error) => console.error(`the log can't be written: ${error.message}`));
  destination.on('error', () => {});
  return pino(options, writeEachTurn(destination, worker === null ? Number.POSITIVE_INFINITY : PIPE_BYTES));
}

let lastMs = 0;
let lastTime = '';

/** Like pino's own `isoTime`, but formatted once for all lines of a millisecond. */
function timeOfLine(): string {
  const now = Date.now();
  if (now !== lastMs) {
    lastMs = now;
    lastTime = `,"time":"${new Date(now).toISOString()}"`;
  }
  return lastTime;
}

/**
 * Writes the lines of one turn of the event loop together at its end, so that concurrent requests share one system call;
 * at exit the rest is written.
 *
 * @param maxBytes the most of one such call, but for a longer line
 */
function writeEachTurn(destination: DestinationStream, maxBytes: number): DestinationStream {
  let lines = '';
  const write = () => {
    if (lines !== '') destination.write(lines);
    lines = '';
  };
  process.once('exit', write);
  return {
    write(line) {
      if (maxBytes < Buffer.byteLength(lines) + Buffer.byteLength(line)) write();
      if (lines === '') setImmediate(write);
      lines += line;
    },
  };
}

/** Leaves out `detail`: in a PostgreSQL error it carries the row that failed. */
function describeError(error: Error & { code?: string }): object {
  return {
    type: error.name,
    message: error.message,
    code: error.code,
    stack: error.stack,
    ...(error.cause instanceof Error ? { cause: describeError(error.cause) } : {}),
  };
}
