import { expect, it } from 'vitest';
import { createRole, useDatabase } from '../support/postgres/database.ts';
import { whileHeld } from '../support/postgres/locks.ts';
import { plant } from '../support/postgres/plant.ts';
import { commandsOf, commandsOn } from '../support/process/commands.ts';
import { onDatabase } from '../support/process/process.ts';

const database = await useDatabase();

const { assent, json, refused } = commandsOf(database);
const maintain = (how = '') => json<Record<string, string[]>>(`maintain ${how}`);
const LATER = [expect.stringContaining('try again later')];

const NOTHING = { sessions: 0, rejections: 0, operator_sessions: 0, refusals: 0, throttles: 0 };
const EXPIRED = `insert into rejections select sha256(uuid_send(gen_random_uuid())), now() - interval '1 day' from generate_series(1, 2500)`;
const LAST = `select relname as name from pg_class where relname ~ '^audit_events_\\d{4}_\\d{2}$' order by 1 desc limit 1`;

it('assent maintain removes expired rows, adds partitions, and finds nothing to do the next time', async () => {
  const { rows } = await database.pool.query<{ name: string }>(LAST);
  const last = rows[0]?.name ?? '';
  await plant(
    database,
    EXPIRED,
    `drop table ${last}`,
    `insert into audit_events (at, kind) values (now() - interval '2 months', 'signed_in')`,
  );
  const done = await maintain();
  const earlier = done.made?.filter((name) => name !== last) ?? [];
  expect(earlier).toHaveLength(1); // the month of that row
  const expected = { expired: { ...NOTHING, rejections: 2500 }, made: [...earlier, last], left_undone: [] };
  expect(done).toMatchObject({ ...expected, pruned: [], analyzed: true });
  expect(await maintain()).toMatchObject({ expired: NOTHING, made: [] });
  const pruned = await maintain('--keep 1 --yes');
  expect(pruned.pruned).toHaveLength(1);
  const said = await assent('maintain --keep 1 --yes');
  expect(said.stderr).toMatch(/^removed expired rows: 0 sessions, .+\nanalyzed the trail\n$/);
});

it('assent maintain, run as the server role, does the permitted part, and lists the tasks left for the owner', async () => {
  const role = await createRole();
  await assent(`migrate --server-role ${role.name}`);
  await plant(database, EXPIRED);
  const done = await commandsOn(onDatabase(role.urlOf(database))).json('maintain');
  expect(done).toMatchObject({
    expired: { rejections: 2500 },
    analyzed: false,
    left_undone: [expect.stringContaining('only the owner')],
  });
});

it('assent maintain postpones a new partition while a reader of the trail blocks it', async () => {
  const { rows } = await database.pool.query<{ name: string }>(LAST);
  await database.pool.query(`drop table ${rows[0]?.name}`);
  await whileHeld(database.pool, 'select from audit_events_rest limit 1', [], async () => {
    expect(await maintain()).toMatchObject({ made: [], left_undone: LATER });
  });
  expect(await maintain()).toMatchObject({ made: [rows[0]?.name], left_undone: [] });
});

it('assent maintain drops old monthly partitions of the trail, but not one that is being read', async () => {
  const old = 'insert into audit_events (at, kind) values';
  for (const ago of [5, 4]) await plant(database, `${old} (now() - interval '${ago} months', 'signed_in')`);
  const { made: [oldest, other] = [] } = await maintain();
  const monthOf = (name = '') => name.replace('audit_events_', '').replace('_', '-');
  await whileHeld(database.pool, `select from ${other}`, [], async () => {
    const pruned = [monthOf(oldest)];
    expect(await maintain('--keep 3 --yes')).toMatchObject({ pruned, analyzed: true, left_undone: LATER });
    expect(await refused('audit prune --keep 3 --yes', 1)).toContain('try again later');
  });
  const pruned = [monthOf(other)];
  expect(await maintain('--keep 3 --yes')).toMatchObject({ pruned, left_undone: [] });
});
