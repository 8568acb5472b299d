import { connect, createServer, type Socket } from 'node:net';
import pg from 'pg';
import { inject } from 'vitest';
import type { TestDatabase } from '../postgres/database.ts';
import { listen } from '../process/program.ts';

export type Line = Awaited<ReturnType<typeof openLine>>;

interface Connection {
  readonly near: Socket;
  readonly far: Socket;
  kept?: Buffer[] | undefined;
}

/** @param farEnd the PostgreSQL of the tests, unless another is named: a host, or the folder of a Unix socket */
export async function openLine(farEnd: { host: string; port: number } = new pg.Client(inject('postgres'))) {
  const { host, port } = farEnd;
  const connections: Connection[] = [];
  let names: readonly string[] = [];
  let delayMs = 0;
  let [isSilent, losesAnswers] = [false, false];
  const server = createServer((near) => {
    const connection: Connection = {
      near,
      far: host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host),
    };
    const { far } = connection;
    connections.push(connection);
    for (const end of [near, far]) end.on('error', () => undefined);
    if (isSilent) return cut(connection);
    far.on('data', (chunk) => {
      if (losesAnswers) reset(connection);
      else if (near.writable) near.write(chunk);
    });
    near.on('data', (chunk) => {
      if (names.some((name) => chunk.includes(name))) connection.kept ??= [];
      if (connection.kept) connection.kept.push(chunk);
      else if (delayMs > 0) setTimeout(() => far.write(chunk), delayMs);
      else far.write(chunk);
    });
    near.on('close', () => connection.kept ?? far.end());
    far.on('close', () => near.destroy());
  });
  const ownPort = await listen(server);
  const holding = () => connections.filter(({ kept }) => kept !== undefined);

  return {
    url(database: Pick<TestDatabase, 'url'>) {
      const url = new URL(database.url);
      for (const name of ['host', 'port']) url.searchParams.delete(name);
      url.host = `127.0.0.1:${ownPort}`;
      return url.href;
    },
    port: ownPort,
    /** Present connections carry nothing more, and neither end is told. */
    cut: () => connections.forEach(cut),
    /** Ends all connections by RST, as a firewall does that was restarted. */
    reset: () => connections.forEach(reset),
    /** Until `false` also new connections carry nothing. */
    silence(on: boolean) {
      isSilent = on;
      if (on) connections.forEach(cut);
    },
    /** Until `false` each answer of the far end is lost, and the connection with it. */
    loseAnswers(on: boolean) {
      losesAnswers = on;
    },
    delay(ms: number) {
      delayMs = ms;
    },
    /** Keeps statements of these names on their way, and all later ones on their connections. */
    holdBack(given: readonly string[]) {
      names = given;
    },
    held: () => holding().length,
    /** Resolves when PostgreSQL has answered all that was held back. */
    async letThrough() {
      names = [];
      await Promise.all(holding().map(deliver));
    },
    close() {
      for (const { near, far } of connections) for (const end of [near, far]) end.destroy();
      server.close();
    },
  };
}

function cut({ near, far }: Connection): void {
  far.removeAllListeners('close');
  for (const end of [near, far]) end.removeAllListeners('data').pause();
}

/** The far end may be a Unix socket, which knows no RST. */
function reset({ near, far }: Connection): void {
  near.resetAndDestroy();
  far.destroy();
}

/** Later data flow again. An answer of PostgreSQL ends with its state, idle. */
async function deliver(connection: Connection): Promise<void> {
  const { near, far, kept = [] } = connection;
  connection.kept = undefined;
  await new Promise<void>((resolve) => {
    const isReady = (chunk: Buffer) => chunk.subarray(-6).equals(Buffer.from('Z\0\0\0\x05I', 'latin1'));
    far.on('data', (chunk) => isReady(chunk) && resolve());
    far.on('close', () => resolve());
    for (const chunk of kept) far.write(chunk);
  });
  if (near.destroyed) far.end();
}
