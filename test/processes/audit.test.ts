import { userInfo } from 'node:os';
import { expect, it } from 'vitest';
import { decide, obtainToken, reachConsent, requestOf } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { commandsOf } from '../support/process/commands.ts';
import { useServer } from '../support/server.ts';

const server = await useServer();

const { assent, json } = commandsOf(server.database);

const eventsOf = (filter: string) => json<Record<string, unknown>[]>(`audit ${filter}`);

it('assent audit shows the events of a user’s authorizations, oldest first, by login, application, reference and day', async () => {
  const [client, user] = [await server.createClient(), await server.createUser()];
  const agent = new Agent(server.baseUrl);
  const spending = { scope: 'payment-shop.limit(7,1500)', instance_name: 'till' };
  const rejected = await decide(
    agent,
    await reachConsent(agent, requestOf(client, spending), user),
    'reject',
  );
  await obtainToken(agent, client, user, spending);
  const ofUser = `--login ${user.login}`;
  const [grant] = await json<Record<string, string>[]>(`grant list ${ofUser}`);
  await assent(`grant revoke ${grant?.grant_id}`);

  const all = await eventsOf(ofUser);
  expect(all[0]).toMatchObject({ outcome: 'user_created', operator: 'tests', login: user.login });
  expect(all.slice(1).map(({ outcome }) => outcome)).toEqual([
    ...['signed_in', 'rejected', 'approved', 'exchanged', 'revoked_by_operator'],
  ]);
  const events = all.slice(2);
  const about = { login: user.login, client_name: 'Test Shop', grant_id: grant?.grant_id, ...spending };
  expect(events[1]).toMatchObject({
    ...about,
    id: expect.stringMatching(/^[0-9a-f]{32}$/),
    limits: [{ right: 'payment-shop', period_days: 7, amount: '1500', currency: 'RUB' }],
    address: expect.stringMatching(/^(127\.0\.0\.1|::1)$/),
    operator: null,
    detail: { confirmed_by: 'payment_password', session: expect.stringMatching(/^[0-9a-f]{32}$/) },
  });
  const reference = rejected.headers.get('x-request-id');
  expect(events[0]).toMatchObject({ ...about, detail: null, reference });
  const operator = userInfo().username;
  expect(events[3]).toMatchObject({ address: null, reference: null, scope: spending.scope, operator });
  const ofClient = `--client ${client.clientId}`;
  const third = events[2];
  for (const [filter, found] of [
    [`${ofClient} --since ${events[0]?.at}`, events],
    [`--ref ${third?.reference}`, [third]],
    [`${ofUser} --since ${third?.at}`, events.slice(2)],
    [`${ofUser} --until ${third?.at}`, all.slice(0, 4)],
    [`${ofClient} --outcome exchanged`, [third]],
    [`--user ${user.userId.toUpperCase()} --outcome exchanged`, [third]],
    [`${ofUser} --limit 2`, events.slice(2)],
  ] as const)
    expect([filter, await eventsOf(filter)]).toEqual([filter, found]);
});

it('assent audit returns each event once to programs that follow the trail, also events of unknown kinds', async () => {
  const next = (cursor = '') =>
    json<{ events: Record<string, unknown>[]; cursor: string }>(`audit next ${cursor}`);
  const first = await next();
  const { userId, login } = await server.createUser();
  const note = `insert into audit_events (kind, user_id) values ('of_a_newer_build', $1)`;
  await server.database.pool.query(note, [userId]);
  let { cursor } = first;
  const found: Record<string, unknown>[] = [];
  const read = async () => {
    const part = await next(cursor);
    cursor = part.cursor;
    found.push(...part.events.filter(({ user_id }) => user_id === userId));
    return found;
  };
  // Transactions of other tests may delay it.
  await expect.poll(read).toHaveLength(2);
  expect(found.at(-1)).toMatchObject({ outcome: 'of_a_newer_build' });
  expect(await read()).toEqual(await eventsOf(`--login ${login}`));
  const forPeople = await assent(`audit next ${first.cursor}`);
  expect(forPeople.stdout).toMatch(new RegExp(`"user_created".*"login":"${login}"[^]*\n\\d+(\\.\\d+){4}\n$`));
});

it('assent audit returns a limited number of events at a time, or all with --all', async () => {
  const { stdout: first } = await assent('audit next');
  const insert = `insert into audit_events (kind, reference) select 'signed_out', 'many' from generate_series(1, $1)`;
  for (const rows of [1_000, 10]) await server.database.pool.query(insert, [rows]);
  const follow = async (how = '') => {
    const lines = (await assent(`audit next ${first.trim()} ${how}`)).stdout.trimEnd().split('\n');
    return { events: lines.filter((line) => line.includes('"many"')).length, cursor: lines.at(-1) ?? '' };
  };
  // Transactions of other tests may delay it.
  await expect.poll(() => follow('--all')).toMatchObject({ events: 1_010 });
  const { events, cursor } = await follow();
  expect(events).toBe(1_000);
  expect((await assent(`audit next ${cursor}`)).stdout.match(/"many"/g)).toHaveLength(10);
});

it('assent audit finds the events of erased users and deleted resource servers by id', async () => {
  const user = await server.createUser();
  const { resource_id: id } = await json('resource create --name API');
  await json(`user delete ${user.login} --yes`);
  await json(`resource delete ${id} --yes`);
  for (const [filter, outcomes] of [
    [`--user ${user.userId}`, ['user_created', 'user_blocked', 'user_deleted']],
    [`--resource ${id}`, ['resource_created', 'resource_secret_added', 'resource_deleted']],
  ])
    expect((await eventsOf(`${filter}`)).map(({ outcome }) => outcome)).toEqual(outcomes);
  expect((await assent('audit --client x --resource y')).stderr).toBe(
    'warning: there is no application x now\nwarning: there is no resource server y now\nno events\n',
  );
});
