import { expect, it } from 'vitest';
import { transaction } from '../../src/store/database/database.ts';
import { actorsAt } from '../support/account.ts';
import { introspect, obtainToken, reachConsent, requestOf } from '../support/flow.ts';
import { ownDatabase } from '../support/postgres/database.ts';
import { commandsOn } from '../support/process/commands.ts';
import { fileIn, useFolder } from '../support/process/folder.ts';
import { onDatabase } from '../support/process/process.ts';
import { useServer } from '../support/server.ts';

const server = await useServer();
const folder = useFolder();

const MANY = 20_000;

it('approvals, exchanges and introspections succeed when statistics say that full tables are empty', async () => {
  const { pool } = server.database;
  const { client, user, agent } = await actorsAt(server);
  const resource = await server.createResource();
  for (const table of ['users', 'grants', 'sessions']) {
    await pool.query(`alter table ${table} set (autovacuum_enabled = off)`); // it would correct the statistics
  }
  await transaction(pool, async (loading) => {
    // An ANALYZE in the middle of a load finds pages and no rows in them, and says so until the next one.
    await loading.query(
      `insert into users (user_id, login, login_key, name, password_hash)
       select md5('user ' || n)::uuid, 'loaded ' || n, 'loaded ' || n, 'Loaded', 'none' from generate_series(1, ${MANY}) n`,
    );
    await loading.query(
      `insert into grants (grant_id, user_id, client_id, revision, scope, redirect_uri, code_hash, code_expires_at, confirmed_at)
       select md5('grant ' || n)::uuid, md5('user ' || n)::uuid, $1, 1, 'account-info', 'x', sha256(n::text::bytea), now(), now()
         from generate_series(1, ${MANY}) n`,
      [client.clientId],
    );
    await loading.query(
      `insert into sessions (session_hash, user_id)
       select sha256(n::text::bytea), md5('user ' || n)::uuid from generate_series(1, ${MANY}) n`,
    );
    await pool.query('analyze users, grants, sessions');
  });
  const believedEmpty = await pool.query(
    `select relname from pg_class where reltuples = 0 and relpages > 0 and relname in ('grants', 'sessions')`,
  );
  expect(believedEmpty.rowCount).toBe(2);
  const token = await obtainToken(agent, client, user);
  expect((await reachConsent(agent, requestOf(client), user)).page).toBe('consent');
  expect(await introspect(server, resource, token)).toMatchObject({ active: true });
});

it('an import into a new database scans no table, before PostgreSQL has statistics of it', async () => {
  const { pool, url } = await ownDatabase();
  await pool.query('alter table users set (autovacuum_enabled = off)');
  const rows = Array.from({ length: 5_000 }, (_, n) => `{ "login": "user-${n}", "name": "Anna" }\n`);
  const file = fileIn(folder, 'users', rows.join(''));
  expect(await commandsOn(onDatabase(url)).json(`user import ${file}`)).toMatchObject({
    imported: rows.length,
  });
  const text = `select seq_tup_read::int from pg_stat_user_tables where relname = 'users'`;
  expect((await pool.query(text)).rows).toEqual([{ seq_tup_read: 0 }]);
});
