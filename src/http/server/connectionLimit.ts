import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { networkOf } from '../../rules/network.ts';
import { addressOf } from './caller.ts';
import { newestAnswerOf } from './requestSmuggling.ts';

/** How long a connection of a stranger may be idle between two requests. Node tells it in each answer (`Keep-Alive`). */
const IDLE_MS = 5_000;
/** Those of a trusted proxy, which keeps them for 60 seconds as a rule: it must be the one to close them. */
const IDLE_BEHIND_PROXY_MS = 72_000;

/** From this part of all places on, a new connection takes the place of one that only waits. */
const CROWDED = 0.9;
/** The part that one network may have of them then. What is left is for the others. */
const SHARE = 0.1;

/** How often the log says it, at most. */
const SAID_EVERY_MS = 60_000;

/** How many connections may be open. */
export interface ConnectionLimit {
  readonly most: number;
  /** Whether the callers are the networks that the connections come from, and not the operator's proxies. */
  readonly direct: boolean;
}

/** How long a connection may be idle. */
export function idleTimeout(direct: boolean): number {
  return direct ? IDLE_MS : IDLE_BEHIND_PROXY_MS;
}

/**
 * Limits the connections that are open at once, so that opening thousands and sending nothing keeps nobody out. When there
 * are nearly as many as there may be, a new one takes the place of the one that has waited longest for its client: for a
 * request, or for the rest of one. What we are about to answer is never closed. A network that has more than its share
 * then pays with its own connections, and gets no further when all of them are at work.
 */
export function limitConnections(app: FastifyInstance, { most, direct }: ConnectionLimit): void {
  const open = new OpenConnections();
  const said = new Map<string, number>();
  const say = (text: string) => {
    if (performance.now() - (said.get(text) ?? Number.NEGATIVE_INFINITY) < SAID_EVERY_MS) return;
    said.set(text, performance.now());
    app.log.warn(`${text} (MAX_CONNECTIONS is ${most})`);
  };
  const close = (socket: Socket) => {
    open.remove(socket);
    socket.destroy();
  };

  // Before Node's own listeners, which find a connection that is closed already.
  app.server.prependListener('connection', (socket) => {
    const network = direct ? networkOf(addressOf({ ip: socket.remoteAddress })) : '';
    const size = open.add(socket, network);
    socket.once('close', () => open.remove(socket));
    if (open.size <= most * CROWDED) return;
    const greedy = direct && size > Math.max(1, most * SHARE);
    const waiting = open.longestWaiting(greedy ? network : undefined, socket);
    if (waiting !== undefined) {
      say('nearly as many connections as may be are open: the longest idle ones are closed');
      close(waiting);
    } else if (greedy || open.size > most) {
      say('more connections than may be are open: others are turned away');
      close(socket);
    }
  });
  app.server.prependListener('request', ({ socket }) => open.touch(socket));
}

/** What is open, in the order in which it was last heard of: with its opening, or its newest request. */
class OpenConnections {
  readonly #networks = new Map<Socket, string>();
  readonly #sizes = new Map<string, number>();

  get size(): number {
    return this.#networks.size;
  }

  /** @returns how many the network has now */
  add(socket: Socket, network: string): number {
    const size = (this.#sizes.get(network) ?? 0) + 1;
    this.#sizes.set(network, size);
    this.#networks.set(socket, network);
    return size;
  }

  /** Forgets a connection that is closed. */
  remove(socket: Socket): void {
    const network = this.#networks.get(socket);
    if (network === undefined) return;
    this.#networks.delete(socket);
    const size = (this.#sizes.get(network) ?? 1) - 1;
    if (size === 0) this.#sizes.delete(network);
    else this.#sizes.set(network, size);
  }

  /** Notes that a request has come. */
  touch(socket: Socket): void {
    const network = this.#networks.get(socket);
    if (network === undefined) return;
    this.#networks.delete(socket);
    this.#networks.set(socket, network);
  }

  /** @param network of these only; undefined for any */
  longestWaiting(network: string | undefined, but: Socket): Socket | undefined {
    for (const [socket, from] of this.#networks) {
      if (socket !== but && (network === undefined || from === network) && waits(socket)) return socket;
    }
    return undefined;
  }
}

/** Whether it is the client's turn. */
function waits(socket: Socket): boolean {
  const answer = newestAnswerOf(socket);
  return answer === undefined || answer.writableFinished || !answer.req.complete;
}
