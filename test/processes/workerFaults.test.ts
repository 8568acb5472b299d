import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, renameSync, symlinkSync, unlinkSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { useDatabase } from '../support/database.ts';
import { makeDataDir, removeDataDir } from '../support/folder.ts';
import { stillRunning } from '../support/launch.ts';
import { knock, type Service, seriesOf, useServices, workersThatAnswered } from '../support/workers.ts';

// What may go wrong with a worker costs that worker alone: the first process and the other workers go on.

const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0;
if (!hasPrlimit) console.log('Not tested: a first process without files left: there is no prlimit.');

const database = await useDatabase();
const { begin, beginTwo } = useServices(database);

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));
const ENDED = 'a worker ended by itself: another is started';
const NEVER_WAS = 'a worker could not be started: it is tried again';

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) removeDataDir(folder);
});

function makeFolder(): string {
  const folder = makeDataDir();
  folders.push(folder);
  return folder;
}

/** A Node of one's own, which can be taken away from under the processes that it runs. */
function copyNode(): string {
  const node = join(makeFolder(), 'node');
  copyFileSync(process.execPath, node);
  return node;
}

interface Line {
  readonly msg: string;
  readonly pause_ms?: number;
  readonly err?: { readonly code: string };
}

/** The lines of the log with this message. */
function linesOf({ launch }: Service, msg: string): Line[] {
  const lines = launch.output().split('\n');
  const whole = lines.filter((line) => line.startsWith('{') && line.endsWith('}'));
  return whole.map((line) => JSON.parse(line) as Line).filter((line) => line.msg === msg);
}

async function untilItIsThree(service: Service): Promise<void> {
  await expect.poll(() => service.launch.output().match(/"msg":"listening at/g)).toHaveLength(3);
}

async function endInOrder({ launch }: Service): Promise<void> {
  launch.kill('SIGTERM');
  expect(await launch.end).toEqual({ code: 0, signal: null });
}

it.each([
  ['ENOENT', 'told afterwards', () => {}],
  ['ELOOP', 'thrown', (node: string) => symlinkSync(node, node)],
])(
  'tries again to start a worker that could not be, and the other answers meanwhile: %s, which is %s',
  async (...row) => {
    const [code, , spoil] = row;
    const node = copyNode();
    const service = await beginTwo({}, [node, 'bin/assent.js']);
    const [victim = 0, other] = service.launch.family();
    renameSync(node, `${node}.away`);
    spoil(node);
    process.kill(victim, 'SIGKILL');
    await service.launch.says(NEVER_WAS);
    expect(await knock(service)).toBe(400);
    const [line] = linesOf(service, NEVER_WAS);
    expect([line?.err?.code, line?.pause_ms]).toEqual([code, 2_000]);
    renameSync(`${node}.away`, node);
    await untilItIsThree(service);
    expect(service.launch.family()).toHaveLength(2);
    expect(service.launch.family()).toContain(other);
    const said = [ENDED, NEVER_WAS].flatMap((msg) => linesOf(service, msg));
    expect((await seriesOf(service)).get('assent_worker_ends_total')).toBe(said.length);
    await endInOrder(service);
  },
);

it.skipIf(!hasPrlimit)('tries again when the first process had no file left for a worker', async () => {
  const service = await beginTwo();
  const { launch } = service;
  const limit = (...args: string[]) =>
    execFileSync('prlimit', [`--pid=${launch.pid}`, ...args], { encoding: 'utf8' }).trim();
  const before = limit('--nofile', '--noheadings', '--raw', '--output=SOFT');
  limit('--nofile=3:');
  process.kill(launch.family()[0] ?? 0, 'SIGKILL');
  await launch.says(NEVER_WAS);
  limit(`--nofile=${before}:`);
  expect(linesOf(service, NEVER_WAS)[0]?.err?.code).toBe('EMFILE');
  await untilItIsThree(service);
  expect(await knock(service)).toBe(400);
  await endInOrder(service);
});

it('ends with a sentence when not even the first worker can be started', async () => {
  const node = copyNode();
  const removeIt = 'import{unlinkSync}from"node:fs";unlinkSync(process.execPath)';
  const command = [node, '--import', `data:text/javascript,${removeIt}`, 'bin/assent.js'];
  const service = await begin({ WORKERS: '2' }, database, command);
  expect(await service.launch.end).toEqual({ code: 1, signal: null });
  expect(existsSync(node)).toBe(false);
  expect(linesOf(service, 'no worker can be started').map(({ err }) => err?.code)).toEqual(['ENOENT']);
});

it('replaces a worker by one of its own build when the link to it leads to another by then', async () => {
  const folder = makeFolder();
  const link = join(folder, 'assent');
  symlinkSync(CHECKOUT, link);
  const service = await beginTwo({}, [process.execPath, join(link, 'bin/assent.js')]);
  unlinkSync(link);
  symlinkSync(folder, link); // has no bin/assent.js at all
  process.kill(service.launch.family()[0] ?? 0, 'SIGKILL');
  await untilItIsThree(service);
  expect(linesOf(service, ENDED)).toHaveLength(1);
});

/** Asks over one connection that is kept. */
function keepAsking({ baseUrl }: Service): (path: string) => Promise<string> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return (path) =>
    new Promise((resolve, reject) => {
      get(`${baseUrl}${path}`, { agent }, (answer) => text(answer).then(resolve, reject)).on('error', reject);
    });
}

/** Two kept connections to the first worker. */
async function keepTwo(service: Service) {
  const kept: ((path: string) => Promise<string>)[] = [];
  for (let turn = 1; kept.length < 2; turn += 1) {
    const ask = keepAsking(service);
    await ask('/oauth/authorize?client_id=x');
    await expect.poll(() => workersThatAnswered(service)).toHaveLength(turn);
    if (workersThatAnswered(service).at(-1) === '1') kept.push(ask);
  }
  return kept;
}

it('goes on when the metrics are asked of a worker in the moment of its death', async () => {
  const service = await beginTwo();
  const { launch } = service;
  const [first, second] = await keepTwo(service);
  const [, victim = 0] = launch.family();
  launch.kill('SIGSTOP'); // the first process finds out together what happens from here on
  const metrics = first?.('/metrics');
  await second?.('/health/live'); // the worker has asked the first process by now
  process.kill(victim, 'SIGKILL');
  await expect.poll(() => stillRunning([victim])).toEqual([]);
  launch.kill('SIGCONT');
  expect(await metrics).toContain('assent_worker_ends_total');
  await untilItIsThree(service);
  expect(launch.output()).not.toContain('nothing caught');
});
