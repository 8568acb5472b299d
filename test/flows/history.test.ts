import { describe, expect, it } from 'vitest';
import { findHistoryPage, findPastApproval, type HistoryEvent } from '../../src/flows/account/history.ts';
import { findWarnings } from '../../src/flows/account/warnings.ts';
import type { Context } from '../../src/flows/common/context.ts';
import type { Session } from '../../src/flows/signIn/session.ts';
import * as grants from '../../src/operations/grants.ts';
import { perform } from '../../src/operations/operation.ts';
import { parseToken } from '../../src/secrets/tokens.ts';
import { HISTORY_KINDS, WARNING_KINDS } from '../../src/store/account/history.ts';
import { AUDIT_KINDS } from '../../src/store/common/auditEvents.ts';
import { migrate } from '../../src/store/schema/migrate.ts';
import { press } from '../support/account.ts';
import { decide, obtainCode, obtainToken, reachConsent, requestOf, tokenRequestOf } from '../support/flow.ts';
import { newSecret } from '../support/ledger.ts';
import { setUserStatus } from '../support/operators.ts';
import { intercept } from '../support/postgres/intercept.ts';
import { plant } from '../support/postgres/plant.ts';
import { type TestUser, useServer } from '../support/server.ts';
import { signedInUser } from './signedIn.ts';

const server = await useServer({ trustProxy: 1 });
const { pool } = server.database;
const PLACE = { 'x-forwarded-for': '203.0.113.77' };
const NETWORK = '203.0.113.0/24';

const signedIn = () => signedInUser(server, undefined, PLACE);

/** Every event of the user, page by page. */
async function historyOf(session: Session): Promise<HistoryEvent[][]> {
  const pages: HistoryEvent[][] = [];
  let from: string | null | undefined;
  while (from !== null) {
    const page = await findHistoryPage(server.context, session, from);
    pages.push([...page.events]);
    from = page.older;
  }
  return pages;
}

/** Writes `count` events of a user at one moment, each named by its number. */
async function fill({ userId }: TestUser, count: number, at: string): Promise<void> {
  await pool.query(
    `insert into audit_events (at, kind, user_id, instance_name)
     select ${at}, 'approved', $1, n::text from generate_series(1, $2::int) n`,
    [userId, count],
  );
}

const numbersOf = (events: readonly HistoryEvent[]) =>
  events.map(({ instanceName }) => Number(instanceName)).filter((number) => number > 0);

describe('the history of a user', () => {
  it('has decisions, disconnections and sign-ins, newest first, with the network', async () => {
    const { user, agent, session } = await signedIn();
    const client = await server.createClient({ name: 'Shop' });
    const as = (instance_name: string) => requestOf(client, { instance_name });
    await decide(agent, await reachConsent(agent, as('one'), user), 'reject');
    const token = await obtainToken(agent, client, user, { instance_name: 'one' });
    await agent.post('/api/revoke', {}, { authorization: `Bearer ${token}` });
    const second = await obtainToken(agent, client, user, { instance_name: 'one' });
    const { grantId } = parseToken('token', second);
    await perform(grants.revoke, { db: pool, operator: { name: 'olga' } }, { grantId: grantId ?? '' });
    const code = await obtainCode(agent, as('two'), user);
    for (let n = 0; n < 2; n += 1) await agent.post('/oauth/token', tokenRequestOf(client, code));
    const spending = requestOf(client, { instance_name: 'three', scope: 'payment-shop' });
    await decide(agent, await reachConsent(agent, spending, user), 'allow');
    await press(agent, await agent.get('/oauth/account'), '/oauth/account/disconnect');
    const [events = []] = await historyOf(session);
    const told = events.map(({ kind, instanceName, network }) => [kind, instanceName, network]);
    expect(told).toEqual([
      ['revoked_by_user', 'three', NETWORK],
      ['approved', 'three', NETWORK],
      ['replayed', 'two', null],
      ['approved', 'two', NETWORK],
      ['revoked_by_operator', 'one', null],
      ['approved_again', 'one', NETWORK],
      ['revoked_by_application', 'one', null],
      ['approved', 'one', NETWORK],
      ['rejected', 'one', NETWORK],
      ['signed_in', null, NETWORK],
      ['user_created', null, null],
    ]);
    const shop = { clientId: client.clientId, clientName: 'Shop' };
    const receipt = expect.stringMatching(/^\d{4}-\d\d-\d\d-[0-9a-f]{10}$/);
    const approved = { ...shop, confirmedBy: 'payment_password', receipt };
    expect(events.slice(0, 2)).toMatchObject([{ ...shop, confirmedBy: null, receipt: null }, approved]);
    expect(JSON.stringify(events)).not.toContain('203.0.113.77');
  });

  it('has password changes and operators’ changes to the account, once each, without operators’ names [history-1]', async () => {
    const { user, agent, session } = await signedIn();
    const passwords = { password: user.password, new_password: newSecret() };
    await agent.submit(await agent.get('/oauth/account/password'), 'new_password', passwords);
    for (const status of ['active', 'blocked', 'blocked', 'active', 'active'] as const)
      await setUserStatus(pool, user.login, status, 'olga the operator');
    const [events = []] = await historyOf(session);
    expect(events.map(({ kind, network }) => [kind, network])).toEqual([
      ['user_unblocked', null],
      ['user_blocked', null],
      ['password_changed', NETWORK],
      ['signed_in', NETWORK],
      ['user_created', null],
    ]);
    expect(JSON.stringify(events)).not.toContain('olga');
  });

  it('has no events of other users, and only the client_id of deleted applications', async () => {
    const [{ user, session }, other] = [await signedIn(), await signedIn()];
    await fill(other.user, 5, 'now()');
    await pool.query(`insert into audit_events (kind, user_id, client_id) values ('approved', $1, 'gone')`, [
      user.userId,
    ]);
    const [events = []] = await historyOf(session);
    expect(events.map(({ kind }) => kind)).toEqual(['approved', 'signed_in', 'user_created']);
    expect(events[0]).toMatchObject({ clientId: 'gone', clientName: null });
  });

  it('shows every kind of user event except code exchanges, what ends soon and the deletion of the user', () => {
    const ofUsers = AUDIT_KINDS.filter((kind) => !/^(client|resource|operator|trail|server)_/.test(kind));
    const told: readonly string[] = HISTORY_KINDS;
    const untold = ofUsers.filter((kind) => !told.includes(kind));
    expect(untold).toEqual(['exchanged', 'ends_soon', 'right_expired', 'user_looked_at', 'user_deleted']);
  });

  it('shows no address of an operator', async () => {
    const { user, session } = await signedIn();
    await pool.query(
      `insert into audit_events (kind, user_id, operator, address) values ('user_blocked', $1, 'olga', '192.0.2.7')`,
      [user.userId],
    );
    const [events = []] = await historyOf(session);
    expect(events[0]).toMatchObject({ kind: 'user_blocked', network: null });
  });

  it('continues at a cursor, even among events of the same time, and ignores an invalid cursor', async () => {
    const { user, session } = await signedIn();
    await fill(user, 3, `'2026-01-01 10:00:00Z'`);
    const micros = Date.UTC(2026, 0, 1, 10) * 1_000;
    const from = async (place: string) => (await findHistoryPage(server.context, session, place)).events;
    expect(numbersOf(await from(`${micros}-2`))).toHaveLength(1);
    expect(await from(`${micros}-9999`)).toEqual([]);
    expect(await from('0-0')).toEqual([]);
    expect(numbersOf(await from(`${micros + 1}-9999`))).toHaveLength(3);
    expect(await from('9999999999999999-9999')).toHaveLength(5);
    for (const text of ['', 'x', '1-', '-1-0', '99999999999999999-0', '1-99999', "1-0' or true"])
      expect({ text, events: await from(text) }).toEqual({ text, events: await from('') });
  });
});

/** The pages of 8 KB that PostgreSQL reads for the statement of this name. */
async function pagesRead(name: string, ask: (context: Context) => Promise<unknown>): Promise<number> {
  let read = 0;
  const db = intercept(pool, async (statement, run) => {
    if (statement.name !== name) return run();
    const text = `explain (analyze, buffers, format json) ${statement.text}`;
    const { rows } = await pool.query(text, statement.values);
    const plan = rows[0]['QUERY PLAN'][0].Plan;
    read = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    return run();
  });
  await ask({ ...server.context, db });
  expect(read).toBeGreaterThan(0);
  return read;
}

it('a page of history, a receipt or warnings reads a bounded number of database pages, however large the audit trail is', async () => {
  const { user, session } = await signedIn();
  // Half of them exchanges, one in 40 of this user; as the superuser, whose statements may take longer.
  await plant(
    server.database,
    `insert into audit_events (at, kind, user_id, address)
     select now() - make_interval(hours => n % (24 * 30 * 36)), case n % 2 when 0 then 'approved' else 'exchanged' end,
            case when n % 40 = 0 then '${user.userId}' else md5((n % 1000)::text)::uuid end, '192.0.2.1'
       from generate_series(1, 60000) n`,
  );
  await migrate(pool); // moves them into a partition for each month
  // Until a vacuum, an index leads to the dead rows that the move left.
  await plant(server.database, 'vacuum analyze audit_events');
  const { older } = await findHistoryPage(server.context, session, undefined);
  for (const from of [undefined, older ?? '', `${Date.now()}000-9999`]) {
    const read = await pagesRead('history-find', (context) => findHistoryPage(context, session, from));
    expect(read).toBeLessThan(300); // each month costs a look at its index
  }
  const readOfReceipt = async (days: number, typed = 'aaaaaaaaaa') => {
    const { rows } = await pool.query(
      `insert into audit_events (at, kind, user_id, grant_id, scope, reference)
       select now() - make_interval(days => $2), 'approved', $1, gen_random_uuid(), 'account-info', 'aaaaaaaaaa'
       returning to_char(at at time zone 'UTC', 'YYYY-MM-DD-') as day`,
      [user.userId, days],
    );
    const find = (context: Context) => findPastApproval(context, session, rows[0].day + typed);
    return pagesRead('history-find-approval', find);
  };
  // What is not there costs its day, what is there also the events since then.
  for (const days of [0, 500]) expect(await readOfReceipt(days, 'bbbbbbbbbb')).toBeLessThan(50);
  expect(await readOfReceipt(1)).toBeLessThan(50);
  expect(await readOfReceipt(500)).toBeLessThan(1000);
  const readOfWarnings = () =>
    pagesRead('history-find-warnings', (context) => findWarnings(context, session, null));
  await pool.query(
    `insert into audit_events (at, kind, user_id)
     select now() - make_interval(hours => n), 'replayed', $1 from generate_series(1, 5) n`,
    [user.userId],
  );
  expect(await readOfWarnings()).toBeLessThan(100); // each kind and month of these days costs a look at its index
  // Far more of each kind than are read.
  await pool.query(
    `insert into audit_events (at, kind, user_id, address, detail)
     select now() - make_interval(mins => n), kind, $1, '192.0.2.1', '{"known_device": false, "session": "x"}' from generate_series(1, 2000) n, unnest($2::text[]) kind`,
    [user.userId, WARNING_KINDS],
  );
  expect(await readOfWarnings()).toBeLessThan(1500); // 200 rows of each kind
});
