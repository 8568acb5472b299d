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

/** The responses of the connection that are not finished, the newest one included. */
export function unfinishedOf(socket: Socket): readonly ServerResponse[] {
  return responses.get(socket) ?? [];
}

export function newestResponseOf(socket: Socket): ServerResponse | undefined {
  return unfinishedOf(socket).at(-1);
}
