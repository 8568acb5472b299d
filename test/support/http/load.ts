import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

// Many that ask at once, each again as soon as it has its answer, and count what failed.

export interface Tally {
  asked: number;
  /** By what went wrong: a status, or the error of the connection. */
  readonly failures: Record<string, number>;
}

export interface Load {
  readonly tally: Tally;
  stop(): Promise<Tally>;
}

/** Asks for a page that looks into the database and is 400 when all is well. @param keepAlive or a connection for each request */
export function startLoad(port: number, { connections = 16, keepAlive = true } = {}): Load {
  const agent = new Agent({ keepAlive, maxSockets: connections });
  const tally: Tally = { asked: 0, failures: {} };
  let stopped = false;
  const ask = async () => {
    while (!stopped) {
      const outcome = await knock(port, agent);
      tally.asked += 1;
      if (outcome !== '400') tally.failures[outcome] = (tally.failures[outcome] ?? 0) + 1;
    }
  };
  const done = Promise.all(Array.from({ length: connections }, ask));
  return {
    tally,
    async stop() {
      stopped = true;
      await done;
      agent.destroy();
      return tally;
    },
  };
}

async function knock(port: number, agent: Agent): Promise<string> {
  try {
    const asked = get({ port, host: 'localhost', path: '/oauth/authorize?client_id=x', agent });
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    await text(answer);
    return String(answer.statusCode);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}
