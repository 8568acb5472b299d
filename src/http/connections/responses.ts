import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** By connection: the unfinished responses, oldest first, and at least the newest. */
const responses = new WeakMap<Socket, ServerResponse[]>();

/** Notes the response to a new request. Node sends those of one connection in order. */
export function noteResponse(socket: Socket, response: ServerResponse): void {
  const open = responses.get(socket);
  if (open === undefined) {
    responses.set(socket, [response]);
    return;
  }
  while (open[0]?.writableFinished) open.shift();
  open.push(response);
}

/** The connection's unfinished responses, including the newest. */
export function unfinishedOf(socket: Socket): readonly ServerResponse[] {
  return responses.get(socket) ?? [];
}

export function newestResponseOf(socket: Socket): ServerResponse | undefined {
  return unfinishedOf(socket).at(-1);
}
