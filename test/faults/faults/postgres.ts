import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Faults, Place } from '../faults.ts';
import { losing, repeat, signal } from './make.ts';

const restart = (end: (postgres: Place['home']['postgres']) => Promise<void>) => async (place: Place) => {
  const { postgres } = place.home;
  await place.hold(0.3);
  await end(postgres);
  await place.hold(0.4);
  await postgres.start();
  await place.hold(0.3);
};

const BACKENDS = `from pg_stat_activity where usename = 'assent_server' and application_name <> 'taker'`;
const TERMINATE = `select pg_terminate_backend(pid) ${BACKENDS}`;

async function backends({ site }: Place): Promise<number[]> {
  const { rows } = await site.ask((client) => client.query<{ pid: number }>(`select pid ${BACKENDS}`));
  return rows.map(({ pid }) => pid);
}

/** The processes that write WAL and checkpoints beside the server processes. */
async function writers(place: Place): Promise<number[]> {
  const servers = await backends(place);
  return place.home.postgres.family().filter((pid, index) => index > 0 && !servers.includes(pid));
}

const storm = (statement: string) => (place: Place) =>
  place.site.ask((client) => repeat(place, 20, () => client.query(statement)));

const freeze = (choose: (place: Place) => number[] | Promise<number[]>) => async (place: Place) => {
  const pids = await choose(place);
  signal(pids, 'SIGSTOP');
  place.site.frozenAt.push(Date.now());
  await place.hold();
  signal(pids, 'SIGCONT');
};

export const POSTGRES_FAULTS: Faults = {
  killPostgres: losing(restart((postgres) => postgres.kill('SIGKILL'))),
  /** An immediate stop, as the next start recovers from a crash. */
  stopImmediately: losing(restart((postgres) => postgres.kill('SIGQUIT'))),
  restartPostgres: losing(restart((postgres) => postgres.stop())),
  /** PostgreSQL ends all its other server processes, and recovers by itself. */
  killBackend: losing((place) =>
    repeat(place, 2, async () => signal((await backends(place)).slice(0, 1), 'SIGKILL')),
  ),
  freezePostgres: losing(freeze(({ home }) => home.postgres.family())),
  freezeBackends: losing(
    freeze(async (place) => (await backends(place)).filter((_pid, index) => index % 2 === 0)),
  ),
  freezeWriters: losing(freeze(writers)),
  killUnflushed: losing(async (place) => {
    const { postgres } = place.home;
    const others = await writers(place);
    signal(others, 'SIGSTOP');
    try {
      await place.hold();
    } finally {
      signal(others, 'SIGKILL');
      await postgres.kill('SIGKILL');
      await postgres.start();
    }
  }),
  terminate: losing(storm(TERMINATE)),
  cancel: { happen: storm(`select pg_cancel_backend(pid) ${BACKENDS}`) },
  readOnly: losing(async ({ home, hold }) => {
    const alter = (how: string) => home.postgres.run(`alter role assent_server ${how}`, TERMINATE);
    await alter('set default_transaction_read_only = on');
    await hold();
    await alter('reset default_transaction_read_only');
  }),
  /** PostgreSQL comes back as a standby, and is promoted later. */
  standby: losing(async ({ home, hold }) => {
    await home.postgres.stop();
    home.postgres.becomeStandby();
    await home.postgres.start();
    await hold();
    await home.postgres.run('select pg_promote()');
  }),
  noConnections: losing(async (place) => {
    const others: pg.Client[] = [];
    do {
      const taking = takeConnections(place.home.serverUrl(0), others);
      await place.site.ask((client) => client.query(TERMINATE));
      await taking;
    } while ((await backends(place)).length > 0);
    await place.hold();
    await Promise.all(others.map((other) => other.end()));
  }),
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
