import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { request as requestTls } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';

/** Requests that go on while operators do something. */
export interface Stream {
  /** What went wrong so far, with how often: a status, or the error of a connection. */
  readonly failures: Record<string, number>;
  /** Resolves when so many more were answered well. */
  answered(more: number): Promise<void>;
  stop(): Promise<void>;
}

/** Below what a proxy of ours lets one network ask for. */
const PAUSE_MS = 20;
const AT_ONCE = 2;

/** Asks for a page that looks into the database and is 400 when all is well, with a connection for each request. */
export function startStream(baseUrl: string): Stream {
  const failures: Record<string, number> = {};
  const ended = new AbortController();
  let good = 0;
  const ask = async () => {
    while (!ended.signal.aborted) {
      const outcome = await knock(baseUrl).catch(
        (error) => (error as NodeJS.ErrnoException).code ?? String(error),
      );
      if (outcome === '400') good += 1;
      else failures[outcome] = (failures[outcome] ?? 0) + 1;
      await setTimeout(PAUSE_MS);
    }
  };
  const asking = Promise.all(Array.from({ length: AT_ONCE }, ask));
  return {
    failures,
    async answered(more) {
      for (const wanted = good + more; good < wanted; ) await setTimeout(PAUSE_MS);
    },
    async stop() {
      ended.abort();
      await asking;
    },
  };
}

async function knock(baseUrl: string): Promise<string> {
  const url = new URL('/oauth/authorize?client_id=x', baseUrl);
  const ask = url.protocol === 'https:' ? requestTls : request;
  const [answer] = (await once(ask(url, { agent: false, rejectUnauthorized: false }).end(), 'response')) as [
    IncomingMessage,
  ];
  await text(answer);
  return String(answer.statusCode);
}
