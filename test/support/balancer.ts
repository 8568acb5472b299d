import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listen, startProgram } from './program.ts';
import { freePort } from './server.ts';

// Balancers before some replicas, which are told by their ports. None tries a request again: what fails is counted.

export interface Balancer {
  readonly port: number;
  close(): Promise<void>;
}

/** How often each replica is asked whether it is ready. */
const CHECK_MS = 50;

class Ready {
  #ready: readonly number[] = [];
  #next = 0;
  #stopped = false;

  constructor(ports: readonly number[]) {
    const check = async () => {
      const answers = await Promise.all(ports.map(isReady));
      this.#ready = ports.filter((_, index) => answers[index]);
      if (!this.#stopped) setTimeout(check, CHECK_MS);
    };
    void check();
  }

  get next(): number {
    this.#next += 1;
    return this.#ready[this.#next % this.#ready.length] ?? 0;
  }

  stop(): void {
    this.#stopped = true;
  }
}

async function isReady(port: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://localhost:${port}/health/ready`, {
      signal: AbortSignal.timeout(1_000),
    });
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    return false;
  }
}

/** One that passes bytes on, a connection to a replica for each to itself. */
export async function tcpBalancer(ports: readonly number[]): Promise<Balancer> {
  const ready = new Ready(ports);
  const server = createServer((inward) => {
    const outward = connect(ready.next, 'localhost');
    for (const [one, other] of [
      [inward, outward],
      [outward, inward],
    ] as [Socket, Socket][]) {
      one.on('error', () => other.destroy());
      one.pipe(other);
    }
  });
  const port = await listen(server, 'localhost');
  return {
    port,
    async close() {
      ready.stop();
      server.close();
    },
  };
}

const HAPROXY = ['/usr/sbin/haproxy', '/usr/local/sbin/haproxy'].find((file) => existsSync(file));
export const hasHaproxy = HAPROXY !== undefined;

/** HAProxy for HTTP. @param check what is said of its checks beyond that they ask for readiness */
export async function haproxy(ports: readonly number[], check: string): Promise<Balancer> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'assent-haproxy-'));
  const servers = ports.map((each) => `server s${each} localhost:${each} check ${check}`);
  const config = [
    ...['defaults', 'mode http', 'timeout connect 5s', 'timeout client 50s', 'timeout server 50s'],
    'timeout check 5s',
    ...['frontend front', `bind 127.0.0.1:${port}`, 'default_backend back'],
    ...['backend back', 'balance roundrobin', 'option httpchk GET /health/ready', ...servers],
  ];
  writeFileSync(join(folder, 'haproxy.cfg'), `${config.join('\n')}\n`);
  const child = await startProgram([HAPROXY ?? '', '-f', join(folder, 'haproxy.cfg'), '-db'], port);
  while (!(await isReady(port))) await new Promise((resolve) => setTimeout(resolve, CHECK_MS));
  return {
    port,
    async close() {
      await child.stop('SIGKILL');
      rmSync(folder, { recursive: true });
    },
  };
}
