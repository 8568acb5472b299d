import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { vi } from 'vitest';
import { outcomeOf, outputOf, PATH, type Run } from '../support/process/program.ts';

/** These must succeed; an engine starts as root only. */
const NEEDED = ['test $(id -u) = 0', 'dockerd --version', 'docker compose version', 'debootstrap --version'];

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

  /** Resolves when it answers. @throws {Error} saying why none can be started here */
  static async start(): Promise<Engine> {
    const failing = NEEDED.find((line) => spawnSync('sh', ['-c', line], { env: { PATH } }).status !== 0);
    if (failing !== undefined) throw new Error(`this fails: ${failing}`);
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
    const child = spawn('dockerd', ['--config-file', config], { env: engine.#env });
    engine.#process = child;
    const output = outputOf(child);
    const ended = once(child, 'exit').then(() => {
      throw new Error(`dockerd ended:\n${output()}`);
    });
    ended.catch(() => {});
    const answers = vi.waitFor(() => engine.docker('version'), { timeout: 60_000, interval: 200 });
    await Promise.race([answers, ended]).catch(async (error) => {
      await engine.stop();
      throw error;
    });
    return engine;
  }

  async docker(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await outcomeOf(spawn('docker', args, { env: this.#env }));
    if (code !== 0) throw new Error(stderr);
    return stdout;
  }

  /** Runs lines of a shell, which see only these variables. @param input of standard input */
  shell(script: string, cwd: string, variables: Record<string, string>, input = ''): Promise<Run> {
    const options = { cwd, env: { ...this.#env, ...variables } };
    return outcomeOf(spawn('bash', ['--norc', '-euo', 'pipefail', '-c', script], options), input);
  }

  async stop(): Promise<void> {
    this.#process?.kill();
    if (this.#process?.exitCode === null) await once(this.#process, 'exit');
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}
