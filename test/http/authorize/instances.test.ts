import { describe, expect, it } from 'vitest';
import { actorsAt, follow, press, signedIn } from '../../support/account.ts';
import {
  confirm,
  decide,
  press as decision,
  linkTo,
  obtainToken,
  reachConsent,
  requestOf,
} from '../../support/flow.ts';
import { Agent, type Answer } from '../../support/http/agent.ts';
import { rowsOf } from '../../support/postgres/rows.ts';
import { useServer } from '../../support/server.ts';
import { expireCode, isLive } from '../../support/state.ts';

const MOST = 3;

const server = await useServer({ maxInstances: MOST });
const { database } = server;
const replica = await useServer({ database, maxInstances: MOST });
const lowered = await useServer({ database, maxInstances: 1 });

let { client, user, agent } = await actorsAt(server);

const named = (instance_name: string) => requestOf(client, { instance_name });
const open = (fields: Record<string, string>, by = agent) => by.get(linkTo(fields));

async function fill(): Promise<string[]> {
  ({ client, user, agent } = await actorsAt(server));
  const tokens = [];
  for (let n = 1; n <= MOST; n += 1)
    tokens.push(await obtainToken(agent, client, user, { instance_name: `n${n}` }));
  return tokens;
}

function expectFull(answer: Answer): void {
  expect([answer.status, answer.page, answer.location]).toEqual([409, 'notice', null]);
  expect(answer.text).toContain('Disconnect one that you no longer need');
  expect(answer.body).toContain('href="/oauth/account"');
}

describe('MAX_INSTANCES live authorizations of one user and application', () => {
  it('make the payment password page answer 409 if the last one was allowed in another tab', async () => {
    await fill();
    await press(agent, await agent.get('/oauth/account'), '/oauth/account/disconnect');
    const spending = { ...named('spending'), scope: 'payment-shop' };
    const { location } = await decision(agent, await reachConsent(agent, spending, user), 'allow');
    const page = await agent.get(location ?? '');
    await obtainToken(agent, client, user, { instance_name: 'another' });
    expectFull(await agent.get(location ?? ''));
    expectFull(await follow(agent, await confirm(agent, page, user.paymentPassword)));
  });

  it('cause a 409 page with a remedy for a new one, and can each be renewed', async () => {
    await fill();
    const before = await rowsOf(database);
    const more = named('one more');
    for (const request of [more, { ...more, scope: 'payment-shop' }, requestOf(client)])
      expectFull(await open(request));
    expect(await rowsOf(database)).toBe(before);
    expect((await decide(agent, await open(named('n1')), 'allow')).status).toBe(302);
    await obtainToken(agent, await server.createClient(), user);
    await obtainToken(new Agent(server.baseUrl), client, await server.createUser());
  });

  it('leave room for a new one after one is disconnected or its code expires unused', async () => {
    const tokens = await fill();
    const resource = await server.createResource();
    await press(agent, await agent.get('/oauth/account'), '/oauth/account/disconnect');
    const added = await decide(agent, await reachConsent(agent, named('added'), user), 'allow');
    expect(added.status).toBe(302);
    expectFull(await open(named('one more')));
    await expireCode(server, client);
    expect((await open(named('one more'))).page).toBe('consent');
    const live = await Promise.all(tokens.map((token) => isLive(server, resource, token)));
    expect(live).toEqual([true, true, false]);
  });

  it('are never exceeded by concurrent approvals of many sessions at two servers [instances-1]', async () => {
    await fill();
    await press(agent, await agent.get('/oauth/account'), '/oauth/account/disconnect');
    const forms: { own: Agent; consent: Answer }[] = [];
    for (let n = 0; n < 12; n += 1) {
      const own = await signedIn(n % 2 === 0 ? server : replica, user);
      forms.push({ own, consent: await open(named(`racing ${n}`), own) });
    }
    const answers = await Promise.all(forms.map(({ own, consent }) => decide(own, consent, 'allow')));
    expect(answers.filter(({ status }) => status === 302)).toHaveLength(1);
    for (const [n, { own }] of forms.entries()) {
      const answer = answers[n] as Answer;
      if (answer.status !== 302) expectFull(await follow(own, answer));
    }
    const live = `select from grants where user_id = $1 and revoked_at is null`;
    expect((await database.pool.query(live, [user.userId])).rowCount).toBe(MOST);
    const approved = `select from audit_events where user_id = $1 and instance_name like 'racing %'`;
    expect((await database.pool.query(approved, [user.userId])).rowCount).toBe(1);
  });

  it('may be exceeded after the operator lowers the limit: live ones remain and can be renewed', async () => {
    await fill();
    const own = new Agent(lowered.baseUrl);
    const again = await reachConsent(own, named('n1'), user);
    expect((await decide(own, again, 'allow')).status).toBe(302);
    expectFull(await open(named('one more'), own));
  });
});
