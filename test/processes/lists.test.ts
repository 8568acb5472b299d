import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { useDatabase } from '../support/postgres/database.ts';
import { plant } from '../support/postgres/plant.ts';
import { commandsOn } from '../support/process/commands.ts';
import { ASSENT } from '../support/process/launch.ts';
import { onDatabase, spawnAssent } from '../support/process/process.ts';

const database = await useDatabase();
/** Users: more than the arguments of one call in JavaScript. Events are larger. */
const [MANY, EVENTS] = [130_000, 60_000];

await plant(
  database,
  `insert into users (login, login_key, name, password_hash)
   select 'Person-' || n, 'person-' || n, 'Пётр ' || n, '' from generate_series(100001, ${100_000 + MANY}) n`,
  `insert into clients (client_id, name, redirect_uri, verified) values ('big', 'Big', 'https://a.example/', false)`,
  `insert into grants (grant_id, user_id, client_id, instance_name, revision, scope, redirect_uri, code_hash, code_expires_at, confirmed_at)
   select gen_random_uuid(), user_id, 'big', login, 1, 'account-info', 'https://a.example/', sha256(''), now(),
          now() - interval '1 second' * split_part(login, '-', 2)::int from users where login < 'Person-102501'`,
  `insert into audit_events (at, kind, user_id, operator)
   select timestamptz '2026-01-01Z' + interval '1 second' * n, 'signed_in', user_id, case when n = ${EVENTS} then 'night' end
     from (select user_id, row_number() over (order by login_key) as n from users limit ${EVENTS}) numbered`,
);

const variables = onDatabase(database.url);
const { assent, json } = commandsOn(variables);
/** With so little memory that a list in memory as a whole would end the process. */
const inSmall = (...args: string[]) =>
  spawnAssent(args, { ...variables, NODE_OPTIONS: '--max-old-space-size=32' });

const rowsOf = (line: string) => json<Record<string, string>[]>(line);

describe('a list larger than memory', () => {
  it('has a block of lines per user', async () => {
    const { code, stdout } = await inSmall('user', 'list');
    expect([code, stdout.match(/\n\n/g)?.length]).toEqual([0, MANY]);
  });

  it('has a block of lines per event, without empty fields', async () => {
    const { code, stdout } = await inSmall('audit', '--outcome', 'signed_in');
    const blocks = stdout.trimEnd().split('\n\n');
    expect([code, blocks.length]).toEqual([0, EVENTS]);
    const names = (block = '') => block.match(/^\w+/gm);
    expect(names(blocks[0])).toEqual(['at', 'outcome', 'user_id', 'login']);
    expect(blocks.at(-1)).toMatch(/^login +Person-\d+\noperator +night$/m);
  });

  it('ends without an error when its reader closes the pipe', async () => {
    const [program = '', ...args] = ASSENT;
    const child = spawn(program, [...args, 'user', 'list'], { env: variables });
    child.stdout.once('data', () => child.stdout.destroy());
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect([code, said]).toEqual([0, '']);
  });
});

it('assent user list finds users by a part of their login or name', async () => {
  const logins = async (how: string) => (await rowsOf(`user list ${how}`)).map(({ login }) => login);
  expect(await logins('--login N-1234 --limit 2')).toEqual(['Person-123400', 'Person-123401']);
  expect(await logins('--name 123456')).toEqual(['Person-123456']);
  const both = ['Person-123000', 'Person-223000', 'Person-230000'];
  expect(await logins('--name Пётр --login 23000')).toEqual(both);
});

describe('assent grant list --client', () => {
  it('lists the authorizations of an application, newest first, each with its user', async () => {
    const grants = await rowsOf('grant list --client big');
    expect(grants).toHaveLength(2_500);
    expect(grants.slice(0, 2).map(({ login }) => login)).toEqual(['Person-100001', 'Person-100002']);
    const { login, ...grant } = grants[7] ?? {};
    expect(await rowsOf(`grant list --client big --login ${login}`)).toEqual([grant]);
  });

  it('shows rights in the same sentences as the pages, as wide as a terminal at most', async () => {
    const scope = 'account-info payment.to-pattern("337").limit(7,500) money-source("wallet","card")';
    await plant(database, `update grants set scope = '${scope}' where instance_name = 'Person-100001'`);
    const { stdout } = await assent('grant list --client big --limit 1');
    expect(stdout.replaceAll('\u00a0', ' ')).toMatch(
      /^client_name +Big\nlogin +Person-100001\ngrant_id +[0-9a-f-]{36}\nclient_id +big\n.*See your account number, balance and status\n +Pay the shop “337”: at most RUB 500 in any 7 days\n +Paid from your wallet or your linked card\nstate/s,
    );
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  });
});
