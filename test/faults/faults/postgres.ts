import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Fault, Place } from '../faults.ts';

// What happens to PostgreSQL: its processes, its state, its connections.

/** Ends PostgreSQL in some way, and starts it again after a while. */
const restart = (end: (place: Place) => Promise<void>) => async (place: Place) => {
  await place.hold(0.3);
  await end(place);
  await place.hold(0.4);
  await place.home.postgres.start();
  await place.hold(0.3);
};

/** The server processes of the replicas. */
const BACKENDS = `from pg_stat_activity where usename = 'assent_server' and application_name <> 'taker'`;
const TERMINATE = `select pg_terminate_backend(pid) ${BACKENDS}`;

async function backends({ site }: Place): Promise<number[]> {
  const { rows } = await site.ask((client) => client.query<{ pid: number }>(`select pid ${BACKENDS}`));
  return rows.map(({ pid }) => pid);
}

/** What writes WAL and checkpoints beside the server processes. */
async function writers(place: Place): Promise<number[]> {
  const servers = await backends(place);
  return place.home.postgres.family().filter((pid, index) => index > 0 && !servers.includes(pid));
}

/** Runs a statement again and again, for as long as the fault lasts. */
async function storm({ site, hold }: Place, statement: string): Promise<void> {
  await site.ask(async (client) => {
    for (let times = 0; times < 20; times += 1) {
      await client.query(statement);
      await hold(0.05);
    }
  });
}

/** Stops processes with SIGSTOP, and lets them go on. */
async function freeze({ site, hold }: Place, pids: readonly number[]): Promise<void> {
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  site.frozenAt.push(Date.now());
  await hold();
  for (const pid of pids) process.kill(pid, 'SIGCONT');
}

export const POSTGRES_FAULTS: Readonly<Record<string, Fault>> = {
  killPostgres: {
    what: 'kill -9 of the postmaster, crash recovery',
    losesAnswers: true,
    happen: restart(({ home }) => home.postgres.kill('SIGKILL')),
  },
  stopImmediately: {
    what: 'an immediate stop of PostgreSQL (SIGQUIT), crash recovery',
    losesAnswers: true,
    happen: restart(({ home }) => home.postgres.kill('SIGQUIT')),
  },
  restartPostgres: {
    what: 'a fast stop of PostgreSQL (SIGINT), and its start',
    losesAnswers: true,
    happen: restart(({ home }) => home.postgres.stop()),
  },
  killBackend: {
    what: 'kill -9 of one server process: PostgreSQL ends all others and recovers by itself',
    losesAnswers: true,
    async happen(place) {
      for (let times = 0; times < 2; times += 1) {
        const [pid] = await backends(place);
        if (pid !== undefined) process.kill(pid, 'SIGKILL');
        await place.hold(0.5);
      }
    },
  },
  freezePostgres: {
    what: 'SIGSTOP of all of PostgreSQL, then SIGCONT',
    losesAnswers: true,
    happen: (place) => freeze(place, place.home.postgres.family()),
  },
  freezeBackends: {
    what: 'SIGSTOP of half of the server processes, then SIGCONT',
    losesAnswers: true,
    async happen(place) {
      const pids = await backends(place);
      await freeze(place, pids.slice(0, Math.ceil(pids.length / 2)));
    },
  },
  freezeWriters: {
    what: 'SIGSTOP of what writes WAL and checkpoints beside the server processes, then SIGCONT',
    losesAnswers: true,
    async happen(place) {
      await freeze(place, await writers(place));
    },
  },
  killUnflushed: {
    what: 'SIGSTOP of what writes WAL beside the server processes, then kill -9 of all, crash recovery',
    losesAnswers: true,
    async happen(place) {
      const others = await writers(place);
      for (const pid of others) process.kill(pid, 'SIGSTOP');
      try {
        await place.hold();
      } finally {
        for (const pid of others) process.kill(pid, 'SIGKILL');
        await place.home.postgres.kill('SIGKILL');
        await place.home.postgres.start();
      }
    },
  },
  terminate: {
    what: 'pg_terminate_backend of all connections, again and again',
    losesAnswers: true,
    happen: (place) => storm(place, TERMINATE),
  },
  cancel: {
    what: 'pg_cancel_backend of all statements, again and again',
    happen: (place) => storm(place, `select pg_cancel_backend(pid) ${BACKENDS}`),
  },
  readOnly: {
    what: 'the role takes no writes (default_transaction_read_only), for connections old and new',
    losesAnswers: true,
    async happen({ site, hold }) {
      const set = (text: string) =>
        site.ask(async (client) => {
          await client.query(text);
          await client.query(TERMINATE);
        });
      await set('alter role assent_server set default_transaction_read_only = on');
      await hold();
      await set('alter role assent_server reset default_transaction_read_only');
    },
  },
  standby: {
    what: 'PostgreSQL comes back as a standby, and is promoted',
    losesAnswers: true,
    async happen({ home, hold }) {
      await home.postgres.stop();
      home.postgres.becomeStandby();
      await home.postgres.start();
      await hold();
      await home.postgres.run('select pg_promote()');
    },
  },
  noConnections: {
    what: 'all connections that PostgreSQL has are taken by others',
    losesAnswers: true,
    async happen(place) {
      const others: pg.Client[] = [];
      do {
        const taking = takeConnections(place.home.serverUrl(0), others);
        await place.site.ask((client) => client.query(TERMINATE));
        await taking;
      } while ((await backends(place)).length > 0);
      await place.hold();
      await Promise.all(others.map((other) => other.end()));
    },
  },
};

async function takeConnections(url: string, taken: pg.Client[]): Promise<void> {
  for (let refusals = 0; refusals < 5; ) {
    const client = new pg.Client({ connectionString: url, application_name: 'taker' });
    client.on('error', () => undefined);
    try {
      await client.connect();
      taken.push(client);
    } catch {
      refusals += 1;
      await sleep(20);
    }
  }
}
