import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { networkOf } from '../../rules/common/network.ts';
import { onceAMinute } from '../../signals/onceAMinute.ts';
import { addressOf } from '../request/caller.ts';
import { newestResponseOf } from './responses.ts';

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
  const open = new OpenConnections();
  const warn = onceAMinute((text: string) => app.log.warn(`${text} (MAX_CONNECTIONS is ${max})`));
  app.server.keepAliveTimeout = direct ? IDLE_MS : IDLE_BEHIND_PROXY_MS;
  // Precedes Node's own listeners, so that they find the connection closed.
  app.server.prependListener('connection', (socket) => {
    const network = direct ? networkOf(addressOf({ ip: socket.remoteAddress })) : '';
    const size = open.add(socket, network);
    if (open.size <= max * CROWDED) return;
    const greedy = direct && size > Math.max(1, max * SHARE);
    const waiting = open.longestWaiting(greedy ? network : undefined, socket);
    if (waiting !== undefined) {
      warn('nearly as many connections as may be are open: the longest idle ones are closed');
      open.close(waiting);
    } else if (greedy || open.size > max) {
      warn('more connections than may be are open: others are turned away');
      open.close(socket);
    }
  });
  app.server.prependListener('request', ({ socket }) => open.touch(socket));
}

/** Open connections in the order of their last request, or of their opening. */
class OpenConnections {
  readonly #networks = new Map<Socket, string>();
  readonly #sizes = new Map<string, number>();

  get size(): number {
    return this.#networks.size;
  }

  /** @returns the network's number of connections */
  add(socket: Socket, network: string): number {
    const size = (this.#sizes.get(network) ?? 0) + 1;
    this.#sizes.set(network, size);
    this.#networks.set(socket, network);
    socket.once('close', () => this.#remove(socket));
    return size;
  }

  close(socket: Socket): void {
    this.#remove(socket);
    socket.destroy();
  }

  #remove(socket: Socket): void {
    const network = this.#networks.get(socket);
    if (network === undefined) return;
    this.#networks.delete(socket);
    const size = (this.#sizes.get(network) ?? 1) - 1;
    if (size === 0) this.#sizes.delete(network);
    else this.#sizes.set(network, size);
  }

  touch(socket: Socket): void {
    const network = this.#networks.get(socket);
    if (network === undefined) return;
    this.#networks.delete(socket);
    this.#networks.set(socket, network);
  }

  /** @param network undefined for any */
  longestWaiting(network: string | undefined, except: Socket): Socket | undefined {
    for (const [socket, from] of this.#networks) {
      if (socket !== except && (network === undefined || from === network) && waits(socket)) return socket;
    }
    return undefined;
  }
}

/** True if idle, or if its client is still sending. */
function waits(socket: Socket): boolean {
  const response = newestResponseOf(socket);
  return response === undefined || response.writableFinished || !response.req.complete;
}
