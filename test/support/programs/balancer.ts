import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen, startProgram } from '../process/program.ts';
import { freePort } from '../server.ts';

// Balancers before some replicas, which are told by their ports. None tries a request again: what fails is counted.

export interface Balancer {
  readonly port: number;
  close(): Promise<void>;
}

const CHECK_MS = 50;

const isReady = (port: number) =>
  fetch(`http://localhost:${port}/health/ready`, { signal: AbortSignal.timeout(1_000) }).then(
    ({ ok }) => ok,
    () => false,
  );

/** One that passes bytes on, a connection to a replica for each to itself. */
export async function tcpBalancer(ports: readonly number[]): Promise<Balancer> {
  let [ready, turn] = [ports, 0];
  const server = createServer((inward) => {
    turn += 1;
    const outward = connect(ready[turn % ready.length] ?? 0, 'localhost');
    inward.on('error', () => outward.destroy()).pipe(outward);
    outward.on('error', () => inward.destroy()).pipe(inward);
  });
  const check = async () => {
    for (; server.listening; await sleep(CHECK_MS)) {
      const answers = await Promise.all(ports.map(isReady));
      ready = ports.filter((_, index) => answers[index]);
    }
  };
  const port = await listen(server, 'localhost');
  void check();
  return { port, close: async () => void server.close() };
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
  while (!(await isReady(port))) await sleep(CHECK_MS);
  return {
    port,
    async close() {
      await child.stop('SIGKILL');
      rmSync(folder, { recursive: true });
    },
  };
}
