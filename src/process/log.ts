import { type DestinationStream, type Logger, pino } from 'pino';

/** JSON lines on standard output: an ISO time, the level as a word, and PostgreSQL errors without row data. */
export function openLog(level: string): Logger {
  const options = {
    level,
    base: null,
    timestamp: timeOfLine,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: describeError },
  };
  const destination = pino.destination({ dest: process.stdout.fd, sync: true });
  // A full disk under the log must not stop the service: one line on standard error reports it.
  process.stderr.on('error', () => {});
  destination.once('error', (error: Error) => console.error(`the log can't be written: ${error.message}`));
  destination.on('error', () => {});
  return pino(options, writeEachTurn(destination));
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

/** Writes one event-loop turn's lines at its end, in one system call; at exit the rest. */
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

/** Omits `detail`: in a PostgreSQL error it contains the failed row. */
function describeError(error: Error & { code?: string }): object {
  return {
    type: error.name,
    message: error.message,
    code: error.code,
    stack: error.stack,
    ...(error.cause instanceof Error ? { cause: describeError(error.cause) } : {}),
  };
}
