import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { basename, dirname, join } from 'node:path';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { useSockets } from '../support/http/sockets.ts';
import { ownDatabase } from '../support/postgres/database.ts';
import { waitForLocks, whileHeld } from '../support/postgres/locks.ts';
import { clusterOf, postmasterOf, useFolder } from '../support/process/folder.ts';
import {
  ASSENT,
  descendants,
  hasTerminals,
  Launch,
  processesOf,
  stillRunning,
  terminal,
} from '../support/process/launch.ts';
import { onDatabase } from '../support/process/process.ts';
import { versionOf } from '../support/process/program.ts';
import { freePair } from '../support/process/trial.ts';
import { freePort } from '../support/server.ts';

// Real processes end in every way that people and programs end them, and leave nothing behind.

const NPM_START = ['npm', 'start'];
const SERVE = [...ASSENT, 'serve'];
const MIGRATE = [...ASSENT, 'migrate'];

/** A command as PID 1, as in a container. */
const CONTAINER = [
  'unshare',
  ...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']),
  ...['--pid', '--fork', '--mount-proc', '--kill-child'],
];
const hasContainers = versionOf([...CONTAINER, 'echo', 'yes']) !== undefined;

const CTRL_C = '\x03';

const { open } = useSockets();
/** All servers use it in turn, because creating PostgreSQL's data for each takes most of the time. */
const ofServers = useFolder();

function start(command: readonly string[], variables: Record<string, string>): Launch {
  const launch = new Launch(command, variables);
  onTestFinished(async () => {
    for (const pid of stillRunning([launch.pid, ...launch.family()])) process.kill(pid, 'SIGKILL');
    await launch.end;
    const { DATA_DIR } = variables;
    for (const pid of DATA_DIR ? processesOf(clusterOf(DATA_DIR)) : []) process.kill(pid, 'SIGKILL');
  });
  return launch;
}

async function startTrial(command: readonly string[], variables: Record<string, string> = {}) {
  const [port, folder] = [String(await freePair()), ofServers];
  const launch = start(command, { PORT: port, DATA_DIR: folder, ...variables });
  await launch.says('trial mode');
  const postmaster = postmasterOf(folder);
  const family = [...launch.family(), postmaster, ...descendants(postmaster)];
  return { launch, baseUrl: `http://localhost:${port}`, folder, family };
}

async function nothingIsLeft({ family, folder }: { family: number[]; folder: string }): Promise<void> {
  const left = () => [...stillRunning(family), ...processesOf(clusterOf(folder))];
  await expect.poll(left).toEqual([]);
  expect(existsSync(join(clusterOf(folder), 'postmaster.pid')), 'PostgreSQL ended in order').toBe(false);
}

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

/** Begins a request; once the server answers 100, it has read the head. @returns completes it, and gives the answer */
async function beginRequest(baseUrl: string): Promise<() => Promise<string>> {
  const head = ['POST /oauth/token HTTP/1.1', 'Host: x', 'Expect: 100-continue', 'Content-Length: 6'];
  const type = 'Content-Type: application/x-www-form-urlencoded';
  const { socket, received } = await open(baseUrl, [...head, type, '', 'code='].join('\r\n'));
  await expect.poll(received, { interval: 10 }).toBe(CONTINUE);
  return async () => {
    socket.end('x');
    await expect.poll(() => socket.closed, { interval: 10 }).toBe(true);
    return received().slice(CONTINUE.length);
  };
}

async function startBusyTrial(...how: Parameters<typeof startTrial>) {
  const trial = await startTrial(...how);
  return { ...trial, finishRequest: await beginRequest(trial.baseUrl) };
}

async function acceptsNoMore({ baseUrl }: { baseUrl: string }): Promise<void> {
  await expect.poll(() => fetch(baseUrl).catch(() => 'closed'), { interval: 10 }).toBe('closed');
}

type BusyTrial = Awaited<ReturnType<typeof startBusyTrial>>;

async function endsInOrder({ finishRequest, launch, ...trial }: BusyTrial): Promise<void> {
  expect(await finishRequest()).toMatch(/^HTTP\/1\.1 400 /);
  await launch.end;
  await nothingIsLeft(trial);
  expect(launch.output()).toContain('"msg":"stopped"');
}

const byItself = (code: number) => ({ code, signal: null });
const bySignal = (signal: NodeJS.Signals) => byItself(128 + constants.signals[signal]);

describe.skipIf(!hasTerminals)('npm start in a terminal (needs `script` of util-linux)', () => {
  it('shuts down gracefully, with all its processes, even if Ctrl-C is repeated', async () => {
    const trial = await startBusyTrial(terminal('exec npm start'));
    trial.launch.type(CTRL_C);
    await acceptsNoMore(trial);
    for (let times = 2; times <= 5; times++) {
      trial.launch.type(CTRL_C);
      await expect.poll(() => trial.launch.output().split('^C')).toHaveLength(times + 1);
    }
    await endsInOrder(trial);
    expect(await trial.launch.end).toEqual(byItself(0));
  });
});

it.each<[title: string, to: 'kill' | 'killGroup', NodeJS.Signals, then?: 'kill' | 'killGroup']>([
  ['its process group gets SIGINT twice', 'killGroup', 'SIGINT', 'killGroup'],
  ['npm and its process group get SIGTERM, as from `timeout`', 'killGroup', 'SIGTERM', 'kill'],
  ['its process group gets SIGHUP', 'killGroup', 'SIGHUP'],
  ['npm alone gets SIGTERM', 'kill', 'SIGTERM'],
  ['npm alone is killed', 'kill', 'SIGKILL'],
])('npm start shuts down gracefully, after the request in progress, when %s', async (_, to, signal, then) => {
  const trial = await startBusyTrial(NPM_START);
  trial.launch[to](signal);
  await acceptsNoMore(trial);
  if (then) trial.launch[then](signal);
  await endsInOrder(trial);
});

describe('a server that is shutting down', () => {
  it('ignores repeated signals of any kind, and answers the request in progress', async () => {
    const trial = await startBusyTrial(SERVE);
    trial.launch.kill('SIGTERM');
    await acceptsNoMore(trial);
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGINT'] as const) trial.launch.kill(signal);
    await endsInOrder(trial);
    expect(await trial.launch.end).toEqual(byItself(0));
  });

  it('ends at once on SIGQUIT, and stops PostgreSQL, even one started by another server', async () => {
    const first = await startTrial(SERVE);
    first.launch.kill('SIGKILL');
    await first.launch.end;
    const trial = await startBusyTrial(SERVE);
    expect(postmasterOf(trial.folder)).toBe(postmasterOf(first.folder));
    trial.launch.kill('SIGTERM');
    await acceptsNoMore(trial);
    trial.launch.kill('SIGQUIT');
    expect(await trial.launch.end).toEqual(bySignal('SIGQUIT'));
    expect(await trial.finishRequest()).toBe('');
    await nothingIsLeft(trial);
  });

  it('ends gracefully despite a request whose body never arrives', async () => {
    const { launch, ...trial } = await startBusyTrial(SERVE);
    launch.kill('SIGTERM');
    expect(await launch.end).toEqual(byItself(0));
    await nothingIsLeft(trial);
  });

  it('ends after its deadline, and stops PostgreSQL', async () => {
    const trial = await startTrial(SERVE);
    const postmaster = postmasterOf(trial.folder);
    const frozen = [postmaster, ...descendants(postmaster)];
    for (const pid of frozen) process.kill(pid, 'SIGSTOP');
    trial.launch.kill('SIGTERM');
    expect(await trial.launch.end).toEqual(bySignal('SIGTERM'));
    for (const pid of frozen) process.kill(pid, 'SIGCONT');
    await nothingIsLeft(trial);
  });

  it.each([
    { title: 'gracefully after an uncaught error', errors: 1, says: '"msg":"stopped"' },
    { title: 'at once after a second uncaught error', errors: 2, says: 'nothing catches error 2' },
  ])('ends $title, with exit code 1', async ({ errors, says }) => {
    const fault =
      'let n = 0; process.on("SIGUSR2", () => { throw new Error("nothing catches error " + ++n) })';
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(fault)}`;
    const trial = await startBusyTrial(SERVE, { NODE_OPTIONS });
    for (let count = 1; count <= errors; count++) {
      trial.launch.kill('SIGUSR2');
      await trial.launch.says(`nothing catches error ${count}`);
    }
    expect(await trial.finishRequest()).toMatch(errors === 1 ? /^HTTP\/1\.1 400 / : /^$/);
    expect(await trial.launch.end).toEqual(byItself(1));
    await nothingIsLeft(trial);
    expect(trial.launch.output()).toContain(says);
  });
});

/** Migrations wait while it is held. */
const LOCK = 'select pg_advisory_xact_lock(7274825)';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

describe('a waiting command', () => {
  it.each([
    ...SIGNALS.map((signal) => ({ what: 'assent migrate', command: MIGRATE, signal })),
    { what: 'assent serve before it is ready', command: SERVE, signal: 'SIGTERM' as const },
  ])('ends at once on $signal, with exit code 128 + signal number: $what', async ({ command, signal }) => {
    await endsWhileItWaits(command, signal);
  });

  it.skipIf(!hasContainers).each(SIGNALS)('ends at once on %s as PID 1 too (needs `unshare`)', (signal) =>
    endsWhileItWaits([...CONTAINER, ...MIGRATE], signal),
  );

  it.skipIf(!hasTerminals)('ends on Ctrl-C at a password prompt, and restores the terminal', async () => {
    const command = `${MIGRATE.slice(0, -1).join(' ')} user create anna --name Anna; echo "code $?"; stty -a`;
    const launch = start(terminal(command), { DATA_DIR: useFolder(onTestFinished) });
    await launch.says('Password: ');
    launch.type(CTRL_C);
    await launch.end;
    expect(launch.output()).toContain('code 130');
    expect(launch.output()).toMatch(/ icanon /);
    expect(launch.output()).toMatch(/ echo /);
  });
});

async function endsWhileItWaits(command: readonly string[], signal: NodeJS.Signals): Promise<void> {
  const { url, pool } = await ownDatabase();
  await whileHeld(pool, LOCK, [], async () => {
    const own = { BASE_URL: 'http://localhost', PORT: String(await freePort()) };
    const launch = start(command, { ...own, ...onDatabase(url) });
    await waitForLocks(pool, 1);
    const [inContainer] = launch.family();
    process.kill(inContainer ?? launch.pid, signal);
    expect(await launch.end).toEqual(bySignal(signal));
    expect(launch.output()).toBe('');
  });
}

describe('a command in trial mode', () => {
  const draftsOf = (folder: string) => {
    const cluster = clusterOf(folder);
    const home = existsSync(dirname(cluster)) ? readdirSync(dirname(cluster)) : [];
    return home.filter((name) => name.startsWith(`${basename(cluster)}.new-`));
  };
  const pidFile = (folder: string) => {
    const file = join(clusterOf(folder), 'postmaster.pid');
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  };

  it.each<[what: string, reached: (folder: string) => boolean, isKept: boolean]>([
    ['PostgreSQL’s data folder is created', (folder) => draftsOf(folder).length > 0, false],
    ['PostgreSQL starts', (folder) => pidFile(folder) !== '', true],
    ['PostgreSQL is ready', (folder) => /ready/.test(pidFile(folder)), true],
  ])('leaves no process or partial data behind if stopped while %s', async (_what, reached, isKept) => {
    for (const [signal, toAll] of [
      ['SIGINT', true],
      ['SIGTERM', false],
    ] as const) {
      const folder = useFolder(onTestFinished);
      const launch = start([...ASSENT, 'client', 'list'], { DATA_DIR: folder });
      await expect.poll(() => reached(folder), { interval: 5 }).toBe(true);
      const family = launch.family();
      if (toAll) launch.killGroup(signal);
      else launch.kill(signal);
      expect(await launch.end, launch.output()).toEqual(bySignal(signal));
      await nothingIsLeft({ family, folder });
      expect(draftsOf(folder)).toEqual([]);
      expect(existsSync(clusterOf(folder)), 'data are not kept half-made').toBe(isKept);
      expect(launch.output()).toMatch(/^(migrated the schema .+\n)?$/);
    }
  });

  it('leaves PostgreSQL running for a concurrent server, if stopped at work, and prints nothing', async () => {
    const trial = await startTrial(SERVE);
    const postmaster = postmasterOf(trial.folder);
    const [, , , , host = ''] = pidFile(trial.folder).split('\n');
    const pool = new pg.Pool({ host, user: 'assent', database: 'postgres' });
    await whileHeld(pool, LOCK, [], async () => {
      const launch = start([...ASSENT, 'client', 'list'], { DATA_DIR: trial.folder });
      await waitForLocks(pool, 1);
      launch.kill('SIGINT');
      expect(await launch.end).toEqual(bySignal('SIGINT'));
      expect(launch.output()).toBe('');
    });
    await pool.end();
    expect((await fetch(`${trial.baseUrl}/health/ready`)).status).toBe(200);
    expect(postmasterOf(trial.folder)).toBe(postmaster);
    expect(trial.launch.output()).not.toContain('broke');
    trial.launch.kill('SIGTERM');
    await nothingIsLeft(trial);
  });
});
