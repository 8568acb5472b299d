import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

export type Load = ReturnType<typeof startLoad>;

/**
 * Has many ask at once for a page that looks into the database and is 400 when all is well, each again and again.
 * @param keepAlive or a connection for each request @param pauseMs between an answer and the next request
 */
export function startLoad(baseUrl: string, { connections = 16, keepAlive = true, pauseMs = 0 } = {}) {
  const url = new URL('/oauth/authorize?client_id=x', baseUrl);
  const { Agent, get } = (url.protocol === 'https:' ? https : http) as typeof https;
  const agent = new Agent({ keepAlive, maxSockets: connections, rejectUnauthorized: false });
  /** By what went wrong: a status, or the error of the connection. */
  const failures: Record<string, number> = {};
  let [answered, stopped] = [0, false];

  const knock = async () => {
    const [answer] = (await once(get(url, { agent }), 'response')) as [http.IncomingMessage];
    await text(answer);
    return String(answer.statusCode);
  };
  const ask = async () => {
    for (; !stopped; await sleep(pauseMs)) {
      const outcome = await knock().catch((error: NodeJS.ErrnoException) => error.code ?? String(error));
      if (outcome === '400') answered += 1;
      else failures[outcome] = (failures[outcome] ?? 0) + 1;
    }
  };
  const done = Promise.all(Array.from({ length: connections }, ask));
  return {
    failures,
    async answered(more: number) {
      for (const wanted = answered + more; answered < wanted; ) await sleep(20);
    },
    async stop() {
      stopped = true;
      await done;
      agent.destroy();
    },
  };
}
