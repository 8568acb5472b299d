import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import pretty from 'pino-pretty';

// npm run dev: compiles and restarts the server whenever a file changes, with readable log lines. A signal ends all of it.

const WATCHED = ['dist', 'views', 'migrations'].flatMap((folder) => ['--watch-path', folder]);
const SERVE = [...WATCHED, '--watch-preserve-output', 'bin/assent.js', 'serve'];

const compiler = spawn('tsc', ['-p', '.', '--watch', '--preserveWatchOutput'], {
  stdio: ['ignore', 'pipe', 'inherit'],
  detached: true, // `tsc` starts another process and doesn't pass signals on: the group gets them
});
let server;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    if (compiler.signalCode === null) process.kill(-compiler.pid);
    server?.kill();
  });
}

for await (const line of createInterface(compiler.stdout)) {
  console.log(line);
  if (server === undefined && line.includes('Watching for file changes')) startServer();
}

/** After the first compilation, which writes all of `dist` anew. */
function startServer() {
  server = spawn(process.execPath, SERVE, { stdio: ['ignore', 'pipe', 'inherit'] });
  server.stdout.pipe(pretty());
}
