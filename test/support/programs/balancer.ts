import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen } from '../process/program.ts';

const CHECK_MS = 50;

async function isReady(port: number): Promise<boolean> {
  const signal = AbortSignal.timeout(1_000);
  const answer = await fetch(`http://localhost:${port}/health/ready`, { signal });
  await answer.text();
  return answer.ok;
}

/**
 * A balancer that passes bytes on, with a connection to a replica for each to itself. It tries nothing again: what fails is
 * counted. @param ports of the replicas
 */
export async function tcpBalancer(ports: readonly number[]) {
  let [ready, turn] = [ports, 0];
  const server = createServer((inward) => {
    turn += 1;
    const outward = connect(ready[turn % ready.length] ?? 0, 'localhost');
    inward.on('error', () => outward.destroy()).pipe(outward);
    outward.on('error', () => inward.destroy()).pipe(inward);
  });
  const check = async () => {
    for (; server.listening; await sleep(CHECK_MS)) {
      const answers = await Promise.all(ports.map((each) => isReady(each).catch(() => false)));
      ready = ports.filter((_, index) => answers[index]);
    }
  };
  const port = await listen(server, 'localhost');
  void check();
  return { port, close: async () => void server.close() };
}
