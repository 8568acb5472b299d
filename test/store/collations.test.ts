import type pg from 'pg';
import { expect, it } from 'vitest';
import { checkDatabase } from '../../src/operations/doctor.ts';
import { findClient } from '../../src/store/common/clients.ts';
import { findUser, findUserByExternalId, insertUser, listUsers } from '../../src/store/common/users.ts';
import { migrate } from '../../src/store/schema/migrate.ts';
import { ownDatabase, ownPool } from '../support/postgres/database.ts';

const SORTED_BY_ICU = `encoding 'UTF8' locale_provider icu icu_locale 'en' locale 'C' template template0`;
const names = Array.from({ length: 40 }, (_, n) => `${n % 2 === 0 ? 'aa' : 'z'}-user-${n}`);

it('finds every user and client once after the database’s collation was changed', async () => {
  const database = await ownDatabase(SORTED_BY_ICU);
  await migrate(database.pool);
  await database.pool.query(
    `insert into users (login, login_key, name, external_id) select n, n, n, n from unnest($1::text[]) n`,
    [names],
  );
  await database.pool.query(
    `insert into clients (client_id, name, redirect_uri, verified) select n, n, 'https://a.example/', false from unnest($1::text[]) n`,
    [names],
  );
  // Danish has `aa` after `z`, English before; another version of ICU changes as much.
  await setOfDatabase(database.pool, `"icuLocale" = 'da'`);
  const exchanged = ownPool(database.url);
  const { rows } = await exchanged.query<{ first: string }>(`select min(name) as first from users`);
  expect(rows).toEqual([{ first: 'z-user-1' }]); // the collation has changed
  for (const name of names) {
    expect(await findUser(exchanged, name)).toMatchObject({ login: name });
    expect(await findUserByExternalId(exchanged, { externalId: name })).toMatchObject({ login: name });
    expect(await findClient(exchanged, name)).toMatchObject({ clientId: name });
    const again = { login: name, key: name, name, passwordHash: null, paymentPasswordHash: null };
    expect(await insertUser(exchanged, again)).toBeNull();
  }
  const listed: string[] = [];
  for await (const page of listUsers(exchanged, { after: 'aa-user-5' }))
    listed.push(...page.map(({ login }) => login));
  expect(listed).toEqual(names.toSorted().filter((name) => name > 'aa-user-5'));
});

it('the doctor reports indexes of another collation version, with both remedies in order', async () => {
  const database = await ownDatabase(SORTED_BY_ICU);
  await migrate(database.pool);
  const examine = async () => {
    const findings = await checkDatabase(database.pool);
    return findings.filter(({ check }) => check === 'collation');
  };
  expect(await examine()).toEqual([]);
  await setOfDatabase(database.pool, `datcollversion = '1.2.3'`);
  const name = new URL(database.url).pathname.slice(1);
  expect(await examine()).toMatchObject([
    {
      level: 'advice',
      text: expect.stringContaining('1.2.3'),
      remedy: `run REINDEX DATABASE ${name} as the owner, and only then ALTER DATABASE ${name} REFRESH COLLATION VERSION`,
    },
  ]);
  await database.pool.query(`alter database ${name} refresh collation version`);
  expect(await examine()).toEqual([]);
});

/** Changes the row of `pg_database`, to the same effect as an upgrade of the machine. */
async function setOfDatabase(pool: pg.Pool, change: string): Promise<void> {
  const { rows } = await pool.query<{ column: string }>(
    `select attname as column from pg_attribute where attrelid = 'pg_database'::regclass and attname in ('daticulocale', 'datlocale')`,
  );
  const set = change.replace('"icuLocale"', rows[0]?.column ?? '');
  await pool.query(`update pg_database set ${set} where datname = current_database()`);
}
