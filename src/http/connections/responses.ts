import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** By connection: the responses that are not finished, oldest first, and at least the newest one. */
const responses = new WeakMap<Socket, ServerResponse[]>();

/** Notes the response to a request that begins. Node sends those of one connection in order. */
export function noteResponse(socket: Socket, response: ServerResponse): void {
  const open = responses.get(socket);
  if (open === undefined) {
    responses.set(socket, [response]);
    return;
  }
  while (open[0]?.writableFinished) open.shift();
  open.push(response);
}

/** How many requests of the connection have no finished response, the newest request included. */
export function countUnfinished(socket: Socket): number {
  return responses.get(socket)?.length ?? 0;
}

export function newestResponseOf(socket: Socket): ServerResponse | undefined {
  return responses.get(socket)?.at(-1);
}
