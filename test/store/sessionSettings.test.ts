import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import type pg from 'pg';
import { expect, it, vi } from 'vitest';
import { checkDatabase, checkInvariants } from '../../src/operations/doctor.ts';
import * as grants from '../../src/operations/grants.ts';
import { perform } from '../../src/operations/operation.ts';
import { openDatabase } from '../../src/store/database/database.ts';
import { migrate } from '../../src/store/schema/migrate.ts';
import { actorsAt } from '../support/account.ts';
import { decide, introspect, obtainToken, reachConsent, requestOf } from '../support/flow.ts';
import { changeClient } from '../support/operators.ts';
import { createRole, ownDatabase, ownPool, useDatabase } from '../support/postgres/database.ts';
import { SLOW_SETTINGS, setFor, WRONG_SETTINGS } from '../support/postgres/wrongSettings.ts';
import { startServer } from '../support/server.ts';

const database = await useDatabase();
const WHOSE = `database ${nameOf(database)}`;

function nameOf({ url }: { url: string }): string {
  return new URL(url).pathname.slice(1);
}

const SPENDING = {
  scope: 'payment-shop.limit(30,1500.50) payment.to-account("a\\"b\\\\c", "email").limit(1,2) account-info',
  instance_name: 'a\\b',
};

/** Whether a connection survives the error of a statement, such as a lock timeout. */
async function survivesError(pool: pg.Pool): Promise<boolean> {
  const connection = await pool.connect();
  connection.on('error', () => {});
  const sent = async (text: string) => connection.query(text).catch(() => null);
  await sent('select 1 / 0');
  const isAlive = (await sent('select')) !== null;
  connection.release(!isAlive);
  return isAlive;
}

/** What a browser, an application, a resource server and an operator see of a server with these connections. */
async function seenOn(pool: pg.Pool) {
  const server = await startServer({ database: { ...database, pool } });
  try {
    const { client, user, agent } = await actorsAt(server);
    const resource = await server.createResource();
    const token = await obtainToken(agent, client, user, SPENDING);
    const { iat, exp, rights, active, username } = await introspect(server, resource, token);
    const page = await reachConsent(agent, requestOf(client), user);
    // Its use is noted afterwards.
    const readAccount = async () => (await agent.get('/oauth/account')).text;
    await vi.waitUntil(async () => !(await readAccount()).includes('never used'), { timeout: 10_000 });
    const account = await agent.get('/oauth/account');
    const history = await agent.get('/oauth/account/history');
    const as = { db: pool, operator: { name: 'tests' } };
    await changeClient(pool, client.clientId, { name: 'Shop' }, 'tests');
    const findings = await checkDatabase(pool);
    const scopes: string[] = [];
    for await (const rows of await perform(grants.list, as, { clientId: client.clientId }))
      scopes.push(...rows.map(({ scope }) => scope));
    return {
      statuses: [page, account, history, await decide(agent, page, 'allow')].map(({ status }) => status),
      account: account.text.replace(user.login, '').replaceAll(/\d+:\d+|localhost:?\d*/g, ''),
      told: { rights, active, isNamed: username === user.login },
      isNew: Math.abs(Number(iat) - Date.now() / 1000) < 60,
      survives: await survivesError(pool),
      years: Math.round((Number(exp) - Number(iat)) / (365.25 * 24 * 3600)),
      scopes,
      levels: findings.map(({ check, level }) => `${check} ${level}`),
    };
  } finally {
    await server.close();
  }
}

const seen = async () => {
  const pool = openDatabase(database.url);
  try {
    return await seenOn(pool);
  } finally {
    await pool.end();
  }
};
const expected = await seen();

it('a connection survives the error of a statement', () => {
  expect(expected.survives).toBe(true);
});

it('the database closes no idle connection', async () => {
  await setFor(database, WHOSE, 'idle_session_timeout', '2000');
  const pool = openDatabase(database.url);
  const connection = await pool.connect();
  try {
    const closed = once(connection, 'error').then(() => 'closed');
    expect(await Promise.race([closed, setTimeout(2500, 'open')])).toBe('open');
  } finally {
    connection.release();
    await pool.end();
    await database.pool.query(`alter ${WHOSE} reset idle_session_timeout`);
  }
});

const ALL = [...WRONG_SETTINGS, ...SLOW_SETTINGS];

it.each(ALL)('the database’s setting %s = %s changes no answer', async (name, value) => {
  await setFor(database, WHOSE, name, value);
  try {
    expect(await seen()).toEqual(expected);
  } finally {
    await database.pool.query(`alter ${WHOSE} reset ${name}`);
  }
});

it('with all of them set for the role of Assent, it migrates the schema, answers, and proves its data', async () => {
  const role = await createRole();
  const own = await ownDatabase(`owner ${role.name}`);
  for (const [name, value] of ALL) await setFor(own, `role ${role.name}`, name, value);
  const pool = ownPool(role.urlOf(own));
  await migrate(pool);
  const { levels, ...answers } = await seenOn(pool);
  expect({ ...answers, levels: expected.levels }).toEqual(expected);
  const findings = await checkInvariants(pool, 60);
  expect(findings.filter(({ level }) => level !== 'ok')).toEqual([]);
});
