import { connect, createServer, type Socket } from 'node:net';
import pg from 'pg';
import { inject } from 'vitest';
import type { TestDatabase } from './database.ts';

/** A line to PostgreSQL on which what networks do can be done. */
export interface Line {
  /** The address of a database at its end. */
  url(database: TestDatabase): string;
  /** Both ends of what is connected now hear nothing more of each other, and are not told. */
  cut(): void;
  /** Whatever is sent from now on arrives that much later. */
  delay(ms: number): void;
  /** Keeps statements of these names on their way, and what else comes on their connections. */
  holdBack(names: readonly string[]): void;
  /** How many connections are held back. */
  held(): number;
  /** Lets arrive what was held back. Resolves when PostgreSQL has answered all of it, whoever still listens. */
  letThrough(): Promise<void>;
  close(): void;
}

interface Connection {
  readonly near: Socket;
  readonly far: Socket;
  /** What is held back of it; undefined while it flows. */
  kept?: Buffer[] | undefined;
}

export async function openLine(): Promise<Line> {
  const { host, port } = new pg.Client(inject('postgres'));
  const connections: Connection[] = [];
  let names: readonly string[] = [];
  let delayMs = 0;
  const server = createServer((near) => {
    const connection: Connection = {
      near,
      far: host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host),
    };
    const { far } = connection;
    connections.push(connection);
    for (const end of [near, far]) end.on('error', () => undefined);
    far.on('data', (chunk) => near.writable && near.write(chunk));
    near.on('data', (chunk) => {
      if (names.some((name) => chunk.includes(name))) connection.kept ??= [];
      if (connection.kept) connection.kept.push(chunk);
      else if (delayMs > 0) setTimeout(() => far.write(chunk), delayMs);
      else far.write(chunk);
    });
    near.on('close', () => connection.kept ?? far.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const ownPort = typeof address === 'object' && address !== null ? address.port : 0;
  const holding = () => connections.filter(({ kept }) => kept !== undefined);

  return {
    url(database) {
      const url = new URL(database.url);
      url.searchParams.delete('host');
      url.host = `127.0.0.1:${ownPort}`;
      return url.href;
    },
    cut() {
      for (const { near, far } of connections) {
        for (const end of [near, far]) end.removeAllListeners('data').pause();
      }
    },
    delay(ms) {
      delayMs = ms;
    },
    holdBack(given) {
      names = given;
    },
    held: () => holding().length,
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

/**
 * What comes afterwards flows again. The last byte of an answer is the state in which PostgreSQL is ready for the next:
 * idle.
 */
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
