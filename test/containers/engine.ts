import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { vi } from 'vitest';
import { outputOf, PATH } from '../support/program.ts';

const run = promisify(execFile);

export const CHECKOUT = path.resolve(import.meta.dirname, '../..');
const MAX_OUTPUT = 64 * 1024 * 1024;

const isInstalled = (...[program = '', ...args]: string[]) =>
  spawnSync(program, args, { env: { PATH } }).status === 0;

/** Each with what it is for; a Docker engine needs root. */
const NEEDED: readonly (readonly [name: string, isThere: () => boolean])[] = [
  ['root', () => process.getuid?.() === 0],
  ['dockerd', () => isInstalled('dockerd', '--version')],
  ['docker compose', () => isInstalled('docker', 'compose', 'version')],
  ['debootstrap', () => isInstalled('debootstrap', '--version')],
];

/** Why no engine can be started here; null if one can. */
export const missing = NEEDED.find(([, isThere]) => !isThere())?.[0] ?? null;

/** A command in a container or about one, that ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A Docker engine of our own: its images, networks and data are gone with it. */
export class Engine {
  readonly folder = fs.mkdtempSync(path.join(os.tmpdir(), 'assent-engine-'));
  readonly #socket = path.join(this.folder, 'docker.sock');
  readonly #env = {
    PATH,
    HOME: this.folder,
    DOCKER_HOST: `unix://${this.#socket}`,
    BUILDKIT_PROGRESS: 'plain',
  };
  #process: ChildProcess | undefined;

  /** Resolves when it answers. */
  static async start(): Promise<Engine> {
    const engine = new Engine();
    const config = path.join(engine.folder, 'daemon.json');
    const settings = {
      'data-root': path.join(engine.folder, 'data'),
      'exec-root': path.join(engine.folder, 'exec'),
      pidfile: path.join(engine.folder, 'pid'),
      hosts: [`unix://${engine.#socket}`],
      bridge: 'none',
      // The machine's own rules stay as they are: ports are forwarded by a process.
      iptables: false,
      'ip-forward': false,
      'ip-masq': false,
      'log-level': 'warn',
    };
    fs.writeFileSync(config, JSON.stringify(settings));
    const child = spawn('dockerd', ['--config-file', config], {
      env: engine.#env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    engine.#process = child;
    const output = outputOf(child);
    const ended = once(child, 'exit').then(() => {
      throw new Error(`dockerd ended:\n${output()}`);
    });
    ended.catch(() => {});
    const answers = vi.waitFor(() => engine.docker('version'), { timeout: 60_000, interval: 200 });
    await Promise.race([answers, ended]);
    return engine;
  }

  /** @throws {Error} with what it printed, if it fails */
  async docker(...args: string[]): Promise<string> {
    return (await run('docker', args, { env: this.#env, maxBuffer: MAX_OUTPUT })).stdout;
  }

  /** Runs lines of a shell, which see only these variables. @param input of standard input */
  async shell(
    script: string,
    folder: string,
    variables: Readonly<Record<string, string>>,
    input = '',
  ): Promise<Ended> {
    const options = { cwd: folder, env: { ...this.#env, ...variables } };
    const child = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', script], options);
    child.stdin.end(input);
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    return { code, stdout, stderr };
  }

  async stop(): Promise<void> {
    this.#process?.kill();
    if (this.#process?.exitCode === null) await once(this.#process, 'exit');
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}
