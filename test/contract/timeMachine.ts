import { afterAll } from 'vitest';
import { openDatabase } from '../../src/store/database/database.ts';
import { createDatabase } from '../support/postgres/database.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** A server whose clock the test sets. */
export interface TimeMachine {
  readonly server: TestServer;
  /** From now on it is this moment, and stays it. */
  travelTo(time: string | Date): Promise<void>;
}

/** Lifetimes count by `clock_timestamp()`, of which one of ours is found first. The past only: times of a session stay real. */
export async function useTimeMachine(): Promise<TimeMachine> {
  const database = await createDatabase();
  await database.pool.query(`
    create schema clock;
    create table clock.setting as select timestamptz '2018-06-01 12:00Z' as moment;
    create function clock.clock_timestamp() returns timestamptz language sql volatile
      as 'select moment from clock.setting'`);
  const name = new URL(database.url).pathname.slice(1);
  await database.pool.query(`alter database ${name} set search_path = clock, pg_catalog, public`);
  const pool = openDatabase(database.url);
  const server = await startServer({ database: { ...database, pool } });
  afterAll(async () => {
    await server.close();
    await pool.end();
    await database.drop();
  });
  const travelTo = async (time: string | Date) => {
    await pool.query('update clock.setting set moment = $1', [new Date(time)]);
  };
  return { server, travelTo };
}
