import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import pretty from 'pino-pretty';

// npm run dev: compiles and restarts the server whenever a file changes, with readable log lines. A signal ends all of it.

const WATCHED = ['dist', 'views', 'migrations', 'demo/dist'].flatMap((folder) => ['--watch-path', folder]);
const SERVE = [...WATCHED, '--watch-preserve-output', 'bin/assent.js', 'serve'];

const compilers = ['.', 'demo'].map((project) =>
  spawn('tsc', ['-p', project, '--watch', '--preserveWatchOutput'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true, // `tsc` starts another process and doesn't pass signals on: the group gets them
  }),
);
let server;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    for (const { pid, signalCode } of compilers) if (signalCode === null) process.kill(-pid);
    server?.kill();
  });
}

await Promise.all(compilers.map(firstCompilation));
startServer();

/** The first compilation writes all of `dist` anew. */
function firstCompilation({ stdout }) {
  return new Promise((resolve) => {
    createInterface(stdout).on('line', (line) => {
      console.log(line);
      if (line.includes('Watching for file changes')) resolve();
    });
  });
}

function startServer() {
  server = spawn(process.execPath, SERVE, { stdio: ['ignore', 'pipe', 'inherit'] });
  server.stdout.pipe(pretty());
}
