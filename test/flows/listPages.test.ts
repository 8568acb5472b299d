import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as audit from '../../src/operations/audit.ts';
import * as clients from '../../src/operations/clients.ts';
import * as grants from '../../src/operations/grants.ts';
import { type AnyOperation, perform } from '../../src/operations/operation.ts';
import * as resources from '../../src/operations/resources.ts';
import * as users from '../../src/operations/users.ts';
import { useDatabase } from '../support/postgres/database.ts';
import { plant } from '../support/postgres/plant.ts';
import { commandsOn } from '../support/process/commands.ts';
import { onDatabase } from '../support/process/process.ts';

const database = await useDatabase();
const caller = { db: database.pool, operator: { name: 'olga' } };
const { json, refused } = commandsOn(onDatabase(database.url));

type Row = Record<string, unknown>;

/** The first rows of a list, to a reader that then stops, or all. */
async function rowsOf(list: AnyOperation, input: Row, most = Number.POSITIVE_INFINITY): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const page of await perform(list, caller, input)) {
    rows.push(...page);
    if (rows.length >= most) break;
  }
  return rows.slice(0, most);
}

const CLIENT = `insert into clients (client_id, name, redirect_uri, verified, created_at)`;
const USER = 'insert into users (login, login_key, name, password_hash)';
const GRANT = `insert into grants (grant_id, user_id, client_id, revision, scope, redirect_uri, code_hash, code_expires_at, confirmed_at)`;
const ONE = `${CLIENT} values ('one', 'One', 'https://a.example/', true, now())`;
const TIME = `timestamptz '2026-11-20Z' + time * interval '1 microsecond'`;

/** Each list, the statement that adds a row `n` of a time to it, and the column that tells its rows apart. */
const LISTS = {
  clients: [
    clients.list,
    {},
    `${CLIENT} select 'c' || n, 'C', 'https://a.example/', false, ${TIME}`,
    'clientId',
  ],
  'resource servers': [
    resources.list,
    {},
    `insert into resources (resource_id, name, created_at) select 'r' || n, 'R', ${TIME}`,
    'resourceId',
  ],
  users: [users.list, {}, `${USER} select 'U' || md5(n::text), 'u' || md5(n::text), 'U', ''`, 'login'],
  grants: [
    grants.list,
    { clientId: 'one' },
    `${GRANT} select gen_random_uuid(), user_id, 'one', 1, 'g' || n, 'x', sha256(''), now(), ${TIME} from users where login = 'anna'`,
    'scope',
  ],
  'audit events': [
    audit.show,
    { clientId: 'one' },
    `insert into audit_events (at, kind, client_id, scope) select ${TIME}, 'approved', 'one', 'e' || n`,
    'scope',
  ],
} as const satisfies Record<string, [AnyOperation, object, string, string]>;

const CLEAR = [
  ...['clients', 'client_secrets', 'resources', 'resource_secrets', 'grants', 'users', 'audit_events'].map(
    (table) => `delete from ${table}`,
  ),
  `${USER} values ('anna', 'anna', 'Anna', '')`,
  ONE,
  `insert into resources (resource_id, name) values ('one', 'One')`,
];

describe('cursor pagination', () => {
  it.each(Object.entries(LISTS))('returns the whole list of %s', async (_what, [list, input, add, id]) => {
    const added = (n: number, time: number) =>
      add.replaceAll('|| n', `|| ${n}`).replaceAll('(n::', `(${n}::`).replaceAll('time *', `${time} *`);
    const takesLimit = 'limit' in list.input.shape;
    const times = fc.array(fc.nat({ max: 2 }), { maxLength: 12 });
    const pages = async (size: number, later: string[]) => {
      const rows: Row[] = [];
      let after = {};
      for (;;) {
        const limit = takesLimit && rows.length > 0 ? { limit: size } : {};
        const page = await rowsOf(list, { ...input, ...after, ...limit }, size);
        const last = page.at(-1);
        if (last === undefined) return rows;
        rows.push(...page);
        expect(rows.length).toBeLessThan(100); // else it goes round
        after = { after: (list as AnyOperation).after?.(last) };
        await plant(database, ...later.splice(0, 1));
      }
    };
    await fc.assert(
      fc.asyncProperty(times, fc.integer({ min: 1, max: 5 }), async (given, size) => {
        await plant(database, ...CLEAR, ...given.map((time, n) => added(n, time)));
        const whole = (await rowsOf(list, input)).map((row) => row[id]);
        expect(whole.length).toBeGreaterThanOrEqual(given.length);
        const found = await pages(size, [added(100, 3), added(101, 3), added(102, 4)]);
        const ids = found.map((row) => row[id]);
        expect(new Set(ids).size).toBe(ids.length);
        expect(ids.filter((one) => whole.includes(one))).toEqual(whole);
      }),
      { numRuns: 15 },
    );
  });

  it.each(Object.entries(LISTS))(
    'refuses an unknown cursor, or goes on behind any key: list of %s',
    async (what, [list, input]) => {
      await plant(database, ...CLEAR);
      if (/^(users|clients|resource servers)$/.test(what))
        return expect(await rowsOf(list, { after: 'zoe' })).toEqual([]);
      for (const after of ['gone', '1.2', '', '5.00000000-0000-0000-0000-00000000000', '1'.repeat(20)])
        await expect(rowsOf(list, { ...input, after })).rejects.toSatisfy(
          ({ name, field }) => name === 'OperatorError' && field === 'after',
        );
    },
  );
});

it('--after continues the list of a command, behind any id, and refuses what is not a cursor', async () => {
  await plant(database, ...CLEAR, `${CLIENT} values ('two', 'Two', 'https://a.example/', false, now())`);
  expect(await json('client list --after one')).toEqual([await json('client show two')]);
  expect(await json('client list --after two')).toEqual([]);
  expect(await json('client list --after three')).toEqual([await json('client show two')]);
  expect(await refused('audit --after yesterday', 2)).toContain('Not a cursor.');
  const event = `insert into audit_events (at, kind, scope) values ('2026-11-20Z', 'rejected',`;
  await plant(database, `${event} 1)`, `${event} 2)`);
  const [first] = await rowsOf(audit.show, { outcome: 'rejected' });
  const next = await json(`audit --outcome rejected --after ${first?.after}`);
  expect(next).toMatchObject([{ scope: '2' }]);
});
