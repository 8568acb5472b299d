import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/store/database/database.ts';
import { migrate } from '../../src/store/schema/migrate.ts';
import { listMigrations } from '../../src/store/schema/schemaState.ts';
import { obtainCode, obtainToken, requestOf } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { exchange, expectToken } from '../support/http/tokenRequests.ts';
import { createDatabase, type TestDatabase } from '../support/postgres/database.ts';
import { whileHeld } from '../support/postgres/locks.ts';
import { type Pooler, poolerVersion, startPooler } from '../support/postgres/pooler.ts';
import { setFor, WRONG_SETTINGS } from '../support/postgres/wrongSettings.ts';
import { startServer, type TestServer, type TestUser } from '../support/server.ts';
import { isLive } from '../support/state.ts';

const REPLICAS = 2;
const PEOPLE = 6;

const found = poolerVersion ? `PgBouncer ${poolerVersion}` : 'PgBouncer is not installed: skipped';

describe.runIf(poolerVersion).each(['session', 'transaction'] as const)(
  `Assent behind ${found}, in %s mode`,
  (mode) => {
    let pooler: Pooler;
    let database: TestDatabase;
    let pools: pg.Pool[];
    let replicas: TestServer[];

    beforeAll(async () => {
      pooler = await startPooler(mode);
      database = await createDatabase('');
      const name = new URL(database.url).pathname.slice(1);
      // The pooler's own sessions are idle, too.
      for (const [setting, value] of WRONG_SETTINGS.filter((one) => !one.includes('idle_session_timeout')))
        await setFor(database, `database ${name}`, setting, value);
      const url = pooler.url(name);
      pools = Array.from({ length: REPLICAS }, () => openDatabase(url));
    });

    afterAll(async () => {
      await Promise.all(replicas?.map((replica) => replica.close()) ?? []);
      await Promise.all(pools?.map((pool) => pool.end()) ?? []);
      await pooler?.stop();
      await database?.drop();
    });

    it('migrates the schema once, however many servers start together', async () => {
      const applied = await Promise.all([...pools, ...pools].map((pool) => migrate(pool)));
      expect(applied.flat()).toHaveLength((await listMigrations()).length);
      replicas = await Promise.all(pools.map((pool) => startServer({ database: { ...database, pool } })));
    });

    it('handles whole authorizations, many of them concurrently on several replicas', async () => {
      const [first, ...others] = replicas as [TestServer, ...TestServer[]];
      const client = await first.createClient();
      const resource = await first.createResource();
      const people = await Promise.all(Array.from({ length: PEOPLE }, () => first.createUser()));
      const tokens = people.map((user, index) => {
        const agent = new Agent([first, ...others][index % REPLICAS]?.baseUrl ?? '');
        return obtainToken(agent, client, user, { scope: 'payment-shop' });
      });
      for (const token of await Promise.all(tokens)) expect(await isLive(first, resource, token)).toBe(true);
    });

    it('keeps the lock timeout: a locked grant delays only the exchange of its own code', async () => {
      const [server] = replicas as [TestServer];
      const client = await server.createClient();
      const [stuck, free] = [await server.createUser(), await server.createUser()];
      const codeOf = (user: TestUser) => obtainCode(new Agent(server.baseUrl), requestOf(client), user);
      const codes = [await codeOf(stuck), await codeOf(free)];
      const lock = 'select from grants where user_id = $1 for update';
      await whileHeld(database.pool, lock, [stuck.userId], async () => {
        const answers = await Promise.all(codes.map((code) => exchange(server, client, code)));
        expect(answers.map(({ status }) => status)).toEqual([503, 200]);
        expect(server.logLines.join('')).toContain('timeout while waiting for a lock (55P03)');
      });
      expectToken(await exchange(server, client, codes[0] ?? ''));
    });
  },
);
