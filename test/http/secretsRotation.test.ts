import { describe, expect, it } from 'vitest';
import { copyOf } from '../support/account.ts';
import { Agent, type Answer } from '../support/agent.ts';
import { codeOf, decide, obtainToken, reachConsent, requestOf, tokenRequestOf } from '../support/flow.ts';
import { newSecret } from '../support/ledger.ts';
import { type TestServer, useServer } from '../support/server.ts';

// The three roll-outs of docs/operate/secrets.md, on one database: what a page of the one before carries goes on in the next.
const [OLD, NEW] = [newSecret(), newSecret()];
const before = await useServer({ secrets: [OLD] });
const { database } = before;
const servers = {
  before,
  first: await useServer({ database, secrets: [OLD, NEW] }),
  second: await useServer({ database, secrets: [NEW, OLD] }),
  third: await useServer({ database, secrets: [NEW] }),
};
const [client, user] = [await before.createClient(), await before.createUser()];

/** The same browser, sent to another replica from now on. */
const movedTo = ({ baseUrl }: TestServer, agent: Agent) => copyOf(agent, baseUrl);

const FIELDS = { scope: 'payment-shop' };

describe.each([
  ['before', 'first'],
  ['first', 'second'],
  ['second', 'first'],
  ['second', 'third'],
] as const)('replacing SECRETS, from the roll-out "%s" to "%s"', (from, to) => {
  const request = () => requestOf(client, { ...FIELDS, instance_name: `${from} ${to}` });

  it('keeps a sign-in page, a payment password page and a consent page good', async () => {
    let agent = new Agent(servers[from].baseUrl);
    let page: Answer = await agent.get((await agent.post('/oauth/authorize', request())).location ?? '');
    for (const [name, fields] of [
      ['login', { login: user.login, password: user.password }],
      ['payment_password', { payment_password: user.paymentPassword ?? '' }],
    ] as const) {
      agent = movedTo(servers[to], agent);
      const answer = await agent.submit(page, name, fields);
      agent = movedTo(servers[from], agent);
      page = await agent.get(new URL(answer.location ?? '').pathname + new URL(answer.location ?? '').search);
    }
    expect(page.page).toBe('consent');
    const code = codeOf(await decide(movedTo(servers[to], agent), page, 'allow'));
    const again = codeOf(await decide(movedTo(servers[to], agent), page, 'allow'));
    expect(again).toBe(code);
    expect((await agent.post('/oauth/token', tokenRequestOf(client, code))).status).toBe(200);
  });
});

it('an entry of SECRETS that is gone makes its pages stale and nothing worse: the user stays signed in, tokens stay live', async () => {
  const agent = new Agent(servers.before.baseUrl);
  const token = await obtainToken(agent, client, user, { instance_name: 'kept' });
  const page = await reachConsent(agent, requestOf(client, FIELDS), user);
  const later = movedTo(servers.third, agent);
  const answer = await decide(later, page, 'allow');
  expect([answer.status, answer.location?.includes('/oauth/authorize?')]).toEqual([303, true]);
  expect((await later.get('/account')).text).toContain('kept');
  const { clientId: client_id, clientSecret } = client;
  const revoked = await later.post('/oauth/revoke', {
    token,
    client_id,
    client_secret: clientSecret ?? '',
  });
  expect(revoked.status).toBe(200);
  expect((await later.get('/account')).text).not.toContain('kept');
});
