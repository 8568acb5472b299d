import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { rateLimitNetworkOf } from '../rules/common/network.ts';
import { onceAMinute } from '../signals/onceAMinute.ts';
import { ipAddressOf } from './caller.ts';

export interface Connection {
  readonly network: string;
  /** The unfinished ones, oldest first, and at least the newest. Node sends those of one connection in order. */
  readonly responses: ServerResponse[];
  /** Bytes read by the client, and the time of the last change. */
  progress: { readonly bytes: number; readonly since: number };
}

/** Idle time between two requests of a connection. Node sends it in each response (`Keep-Alive`). */
const IDLE_MS = 5_000;
/** The same for a trusted proxy, which usually keeps connections for 60 seconds and must be the one to close them. */
const IDLE_BEHIND_PROXY_MS = 72_000;

/** From this share of the limit on, a new connection replaces one that waits for its client. */
const CROWDED = 0.9;
/** The share of the limit for one network from then on. */
const SHARE = 0.1;

/**
 * Limits open connections (Slowloris). Near `max` a new one replaces the one that has waited longest for its client, of the
 * same network if that exceeds its share. @param direct without a proxy of the operator in between
 */
export function limitConnections(app: FastifyInstance, max: number, direct: boolean): void {
  const open = new Map<Socket, Connection>();
  const sizes = new Map<string, number>();
  const remove = (socket: Socket, { network }: Connection) => {
    if (!open.delete(socket)) return;
    const size = (sizes.get(network) ?? 1) - 1;
    if (size === 0) sizes.delete(network);
    else sizes.set(network, size);
  };
  const warn = onceAMinute((text: string) => app.log.warn(`${text} (MAX_CONNECTIONS is ${max})`));
  app.server.keepAliveTimeout = direct ? IDLE_MS : IDLE_BEHIND_PROXY_MS;
  // Precedes Node's own listeners, so that they find the connection closed.
  app.server.prependListener('connection', (socket) => {
    const network = direct ? rateLimitNetworkOf(ipAddressOf({ ip: socket.remoteAddress })) : '';
    const newest = { network, responses: [], progress: { bytes: 0, since: performance.now() } };
    const size = (sizes.get(network) ?? 0) + 1;
    sizes.set(network, size);
    open.set(socket, newest);
    socket.once('close', () => remove(socket, newest));
    if (open.size <= max * CROWDED) return;
    const isGreedy = direct && size > Math.max(1, max * SHARE);
    const waiting = longestWaiting(open, isGreedy ? network : undefined, newest);
    if (waiting !== undefined) warn('nearly too many open connections: closing the longest idle ones');
    else if (isGreedy || open.size > max) warn('too many open connections: refusing new ones');
    else return;
    const [closed, connection] = waiting ?? [socket, newest];
    remove(closed, connection); // its event comes later
    closed.destroy();
  });
  // The connection of the newest request waits least long for its client.
  app.server.prependListener('request', ({ socket }, response) => {
    const connection = open.get(socket);
    if (connection === undefined) return;
    open.delete(socket);
    open.set(socket, connection);
    const { responses } = connection;
    while (responses[0]?.writableFinished) responses.shift();
    responses.push(response);
  });
  app.decorate('connections', open);
}

/** The first connection that is idle, or whose client is still sending. @param network of this one only; undefined for any */
function longestWaiting(open: Map<Socket, Connection>, network: string | undefined, except: Connection) {
  for (const entry of open) {
    const [, connection] = entry;
    const newest = connection.responses.at(-1);
    const isWaiting = newest === undefined || newest.writableFinished || !newest.req.complete;
    const isOther = network !== undefined && connection.network !== network;
    if (connection !== except && !isOther && isWaiting) return entry;
  }
  return undefined;
}
