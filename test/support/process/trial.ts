import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, vi } from 'vitest';
import { ledger } from '../ledger.ts';
import { useFolder } from './folder.ts';
import { type ServerProcess, spawnServer } from './process.ts';
import { PATIENCE } from './program.ts';

export async function startTrial(variables: Record<string, string>): Promise<ServerProcess> {
  const server = await spawnServer(variables);
  await vi.waitUntil(() => server.output().includes('trial mode'), PATIENCE);
  if (variables.DATA_DIR !== undefined) noteFiles(variables.DATA_DIR);
  return server;
}

export async function useTrial(variables: Record<string, string> = {}) {
  const dataDir = useFolder();
  const server = await startTrial({ PORT: String(await freePair()), DATA_DIR: dataDir, ...variables });
  afterAll(async () => void (await server.stop()));
  return { baseUrl: server.baseUrl, dataDir, ...credentials(server) };
}

/** Trial mode keeps its secrets in files, to show them again. */
function noteFiles(dataDir: string): void {
  ledger.note('signing secret', readFileSync(join(dataDir, 'secrets'), 'utf8'));
  const file = join(dataDir, 'demo.json');
  if (!existsSync(file)) return;
  const { application, users, resource } = JSON.parse(readFileSync(file, 'utf8'));
  ledger.note('client secret', application.clientSecret);
  ledger.note('resource secret', resource.resourceSecret);
  for (const { password, paymentPassword } of users) {
    ledger.note('password', password);
    ledger.note('payment password', paymentPassword);
  }
}

/** Two ports in a row: the demo application takes the one after the server's. The system gives those from 32,768 on to others. */
export async function freePair(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    if ((await isFree(port)) && (await isFree(port + 1))) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen(port, '127.0.0.1');
  const listened = await once(probe, 'listening').catch(() => null);
  if (listened !== null) await once(probe.close(), 'close');
  return listened !== null;
}

/** The credentials in the output; empty if it has none. */
export type Credentials = ReturnType<typeof credentials>;

export function credentials(server: ServerProcess) {
  const field = (name: string) => new RegExp(`^ *${name} {2,}(\\S+)$`, 'm').exec(server.output())?.[1] ?? '';
  const [, login = '', password = ''] =
    /^ *Another user {2,}(\S+), password (\S+)$/m.exec(server.output()) ?? [];
  return {
    open: field('Open'),
    login: field('Login'),
    password: field('Password'),
    payment: field('Payment password'),
    other: { login, password },
  };
}
