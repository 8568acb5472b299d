import * as cheerio from 'cheerio';
import { beforeEach, describe, expect, it } from 'vitest';
import { BUILT_IN_CATALOGUE } from '../../../src/languages/catalogue.ts';
import * as clients from '../../../src/operations/clients.ts';
import { explainRefusal } from '../../../src/operations/explain.ts';
import * as grants from '../../../src/operations/grants.ts';
import { perform } from '../../../src/operations/operation.ts';
import {
  actorsAt,
  copyOf,
  fieldsFor,
  follow,
  isSignedIn,
  press,
  receiptsIn,
  signedIn,
} from '../../support/account.ts';
import {
  confirm,
  decide,
  linkTo,
  obtainCode,
  obtainToken,
  reachConsent,
  requestOf,
  signIn,
  tokenRequestOf,
} from '../../support/flow.ts';
import { Agent, type Answer } from '../../support/http/agent.ts';
import { factsOf } from '../../support/pages.ts';
import { useServer } from '../../support/server.ts';
import { expireCode } from '../../support/state.ts';

// `/account/history/NUMBER`: what was approved, as it was decided, and what is left of it.

const server = await useServer({ countsPayments: true });
const { database } = server;
const { pool } = database;
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const SHOPS = 'account-info payment-shop.limit(7,5000)';

let { client, user, agent } = await actorsAt(server, { name: 'Corner Shop' });

beforeEach(async () => {
  ({ client, user } = await actorsAt(server, { name: 'Corner Shop' }));
  agent = await signedIn(server, user, { 'user-agent': FIREFOX });
});

/** A text without its marks of direction and no-break spaces. */
const plain = (text = '') => text.replaceAll(/[\u2068\u2069]/g, '').replaceAll('\u00a0', ' ');

async function newest(): Promise<
  Answer & { address: string; now: string; box: string; facts: Record<string, string> }
> {
  const [address = 'no receipt'] = await receiptsIn(agent);
  return read(address);
}

async function read(address: string, by = agent) {
  const page = await by.get(address);
  const facts = factsOf({ ...page, body: plain(page.body) });
  const box = plain(cheerio.load(page.body)('.money').text()).replaceAll(/\s+/g, ' ').trim();
  return { ...page, text: plain(page.text), address, facts, box, now: facts.Now ?? '' };
}

describe('the receipt of an approval', () => {
  it('says what was decided, when, how, where and for which connection, and what is left of it', async () => {
    await obtainToken(agent, client, user, { scope: SHOPS, instance_name: 'Kitchen' });
    const { status, page, address, facts, box } = await newest();
    expect([status, page]).toEqual([200, 'approval']);
    expect(box).toMatch(
      /^Corner Shop can pay any shop up to RUB 5,000 in any 7 days, until \d+ \w+ \d{4} and see/,
    );
    expect(address).toMatch(/^\/oauth\/account\/history\/\d{4}-\d\d-\d\d-[0-9a-f]{10}$/);
    expect(facts).toEqual({
      Number: address.split('/').at(-1),
      'Allowed on': expect.stringMatching(/^\d+ \w+ \d{4} at \d\d:\d\d UTC$/),
      Confirmed: 'With your payment password',
      From: 'Firefox on Linux, IP address 127.0.0.x',
      Connection: 'Kitchen',
      Now: 'Connected',
      'Can spend': 'At most RUB 5,000 in any 7 days',
      'Last used': 'Never',
    });
  });

  it('says that Allow alone confirmed rights that spend nothing, and until when they are valid', async () => {
    await obtainToken(agent, client, user);
    const { facts, text, box } = await newest();
    expect([facts.Confirmed, box]).toEqual(['By pressing “Allow”', '']);
    expect(facts['Valid until']).toMatch(/^\d+ \w+ \d{4}$/);
    expect(text).toContain('Corner Shop can see your account number, balance and status');
  });

  it('has the limits that the user lowered', async () => {
    client = await server.createClient({ name: 'Corner Shop', userLimits: true });
    const consent = await reachConsent(agent, requestOf(client, { scope: SHOPS }), user);
    const pressed = await agent.submit(consent, 'decision', { limit_1: '900', decision: 'allow' });
    await confirm(agent, await follow(agent, pressed), user.paymentPassword);
    expect((await newest()).box).toContain('up to RUB 900 in any 7 days');
  });

  it('stays as decided when the operator has changed the catalogue and the default limit', async () => {
    await obtainToken(agent, client, user, { scope: 'account-info payment-shop' });
    const { address, box } = await newest();
    expect(box).toContain('up to RUB 3,000 in any 24 hours');
    const catalogue = new Map([...BUILT_IN_CATALOGUE].filter(([name]) => name !== 'payment-shop'));
    const offer = { catalogue, defaultLimit: { days: 7, sum: '9000' } };
    const changed = await useServer({ database, offer });
    const after = await read(address, copyOf(agent, changed.baseUrl));
    expect(after.box).toContain('up to RUB 3,000 in any 24 hours');
    expect(after.box).toContain('see your account number');
  });

  it('counts its time from the approval, and leaves out what an old trail does not have', async () => {
    // Nobody can change the trail: this was written then.
    await pool.query(
      `insert into audit_events (at, kind, grant_id, user_id, client_id, scope, reference)
       values ('2025-03-01 23:30:00Z', 'approved', gen_random_uuid(), $1, $2, $3, 'abcdef0123')`,
      [user.userId, client.clientId, SHOPS],
    );
    const { box, facts } = await read('/oauth/account/history/2025-03-01-abcdef0123');
    expect(box).toContain('up to RUB 5,000 in any 7 days, until 1 March 2028');
    expect(Object.keys(facts)).toEqual(['Number', 'Allowed on', 'Confirmed', 'Now']);
    expect(facts['Allowed on']).toBe('1 March 2025 at 23:30 UTC');
  });

  it('is not found for another user, with another day, and by any other text', async () => {
    await obtainToken(agent, client, user, { scope: SHOPS });
    const { address } = await newest();
    const other = await server.createUser();
    const stranger = await signedIn(server, other);
    const unknown = await agent.get('/oauth/account/no-such-page');
    expect(unknown.status).toBe(404);
    for (const [by, path] of [
      [stranger, address],
      [agent, address.replace(/\d{4}-/, '2025-')],
      [agent, address.replace(/.{10}$/, '0000000000')],
      [agent, '/oauth/account/history/2026-02-30-0000000000'],
      [agent, '/oauth/account/history/9999-12-31-0000000000'],
      [agent, `/oauth/account/history/${"'".repeat(50)}`],
    ] as const) {
      const { status, page, text } = await by.get(path);
      expect([path, status, page]).toEqual([path, 404, 'error']);
      expect(text).toContain('There is nothing at this address.');
    }
    expect((await agent.get(address)).status).toBe(200);
  });

  it('is opened by a link in a message after signing in, also after a wrong password', async () => {
    await obtainToken(agent, client, user, { scope: SHOPS });
    const { address } = await newest();
    const elsewhere = new Agent(server.baseUrl);
    const asked = await elsewhere.get(address);
    expect(asked.page).toBe('sign-in');
    const wrong = await elsewhere.submit(asked, 'login', { login: user.login, password: 'x' });
    const again = await follow(elsewhere, wrong);
    expect(again.text).toContain('The login or the password is wrong');
    const { login, password } = user;
    const page = await follow(elsewhere, await elsewhere.submit(again, 'login', { login, password }));
    expect([page.page, factsOf(page).Number]).toEqual(['approval', address.split('/').at(-1)]);
  });
});

describe('what is left of an approval', () => {
  it('is nothing once a later one has replaced it, whose receipt follows', async () => {
    await obtainToken(agent, client, user, { scope: SHOPS });
    const first = await newest();
    await decide(agent, await reachConsent(agent, requestOf(client, { scope: SHOPS }), user), 'reject');
    expect((await read(first.address)).now).toBe('Connected');
    await obtainToken(agent, client, user, { scope: 'account-info payment-shop.limit(7,9000)' });
    const [second, ...older] = await receiptsIn(agent);
    expect(older).toEqual([first.address]);
    const replaced = await read(first.address);
    expect(replaced.now).toMatch(
      /^Ended on .+ UTC\. You renewed Corner Shop’s access\. The receipt of that$/,
    );
    expect(replaced.body).toContain(`href="${second}"`);
    expect(replaced.box).toBe(first.box);
    expect(fieldsFor(replaced, '/oauth/account/disconnect')).toEqual({});
    expect((await read(second ?? '')).facts['Can spend']).toBe('At most RUB 9,000 in any 7 days');
  });

  it('ends by its own button, and stays ended when another approval follows', async () => {
    await obtainToken(agent, client, user, { scope: SHOPS });
    const first = await newest();
    const account = await press(agent, first, '/oauth/account/disconnect');
    expect(account.text).toContain('Disconnected: Corner Shop.');
    const ended = /^Ended on \d+ \w+ \d{4} at \d\d:\d\d UTC\. You disconnected Corner Shop\.$/;
    expect((await read(first.address)).now).toMatch(ended);
    await obtainToken(agent, client, user, { scope: SHOPS });
    expect((await read(first.address)).now).toMatch(ended);
    expect((await newest()).now).toBe('Connected');
  });

  it.each([
    ['its application gave it up', 'Corner Shop gave up its access.'],
    ['an operator revoked it', 'We disconnected Corner Shop.'],
    [
      'its code was used twice',
      'A one-time code for Corner Shop was used twice, so we ended the access that it gave.',
    ],
    ['its application was deleted', 'We disconnected a deleted application.'],
  ])('is nothing once %s', async (how, said) => {
    const code = await obtainCode(agent, requestOf(client), user);
    const exchange = () => agent.post('/oauth/token', tokenRequestOf(client, code));
    const { access_token: token } = JSON.parse((await exchange()).body);
    if (how.includes('gave')) await agent.post('/api/revoke', {}, { authorization: `Bearer ${token}` });
    const operator = { db: pool, operator: { name: 'olga' }, confirm: async () => {} };
    if (how.includes('operator')) await perform(grants.revoke, operator, { login: user.login });
    if (how.includes('twice')) await exchange();
    if (how.includes('deleted')) await perform(clients.remove, operator, { clientId: client.clientId });
    const { now, body } = await newest();
    expect(now).toMatch(new RegExp(`UTC\\. ${said.replaceAll('.', '\\.')}$`));
    expect(body).not.toContain('olga');
  });

  it('is nothing if its code was never exchanged in time, or its token has expired', async () => {
    const over = 'Nothing: its time is over, or the application did not fetch its access in time.';
    await obtainCode(agent, requestOf(client), user);
    expect((await newest()).now).toBe('Connected');
    await expireCode(server, client);
    expect((await newest()).now).toBe(over);
    const old = `update grants set token_issued_at = clock_timestamp() - interval '3 years' where client_id = $1`;
    await obtainToken(agent, client, user);
    expect((await newest()).now).toBe('Connected');
    await pool.query(old, [client.clientId]);
    expect((await newest()).now).toBe(over);
  });

  it('includes what was spent of it', async () => {
    const resource = await server.createResource();
    const token = await obtainToken(agent, client, user, { scope: SHOPS });
    const payment = { token, key: 'one', amount: '800', currency: 'RUB', source: 'wallet', shop: '337' };
    await agent.post('/oauth/spend', payment, { authorization: resource });
    expect((await newest()).facts['Can spend']).toMatch(/RUB 800 of RUB 5,000 used · free again on \d/);
  });
});

it('support finds an approval by the number on its receipt, however that is typed', async () => {
  await obtainToken(agent, client, user, { scope: SHOPS, instance_name: 'Kitchen' });
  const { facts } = await newest();
  const explain = (reference: string) =>
    perform(explainRefusal, { db: pool, operator: { name: 'olga' } }, { reference });
  const found = await explain(` ${facts.Number?.toUpperCase()} `);
  expect(found).toMatchObject({
    outcome: 'approved',
    login: user.login,
    clientName: 'Corner Shop',
    instanceName: 'Kitchen',
    scope: SHOPS,
    detail: { confirmed_by: 'payment_password', browser: 'Firefox', system: 'Linux' },
    remedy: expect.stringMatching(/`assent grant show [0-9a-f-]{36}`\.$/),
  });
  await expect(explain('2026-01-01-0000000000')).rejects.toThrow('there is no receipt 2026-01-01-0000000000');
});

describe('“No, secure my account”', () => {
  const SECURE = '/oauth/account/secure';
  const END = '/oauth/account/sessions/end';

  it('leads from a receipt to a choice, whose milder way signs out every other browser and leads to the password', async () => {
    const token = await obtainToken(agent, client, user, { scope: SHOPS });
    const thief = await signedIn(server, user);
    const receipt = await newest();
    expect(receipt.body).toContain(`href="${SECURE}"`);
    const choice = await agent.get(SECURE);
    expect(choice.text).toMatch(/What do you want to do\? .+ then change my password .+ Stop everything/);
    const { location } = await agent.post(END, fieldsFor(choice, END));
    expect(location).toBe(`${server.baseUrl}/oauth/account/password`);
    expect([await isSignedIn(agent), await isSignedIn(thief)]).toEqual([true, false]);
    expect((await newest()).now).toBe('Connected');
    expect(token).toMatch(/^assent_at_/);
    // Nobody else is signed in any more: the password is what is left to do.
    const after = await agent.get(SECURE);
    expect(fieldsFor(after, END)).toEqual({});
    expect(after.body).toContain('href="/oauth/account/password"');
  });

  it('has the way that disconnects everything, too', async () => {
    await obtainToken(agent, client, user, { scope: SHOPS });
    const after = await press(agent, await agent.get(SECURE), '/oauth/account/stop');
    expect(after.text).toContain('Everything is stopped');
    expect((await newest()).now).toMatch(/You disconnected Corner Shop\.$/);
  });

  it('only signs out where a provider keeps the passwords', async () => {
    const paymentAcr = null;
    const settings = { issuer: 'https://bank.example', clientId: 'x', clientSecret: 'x', createsUsers: true };
    const elsewhere = await useServer({ database, provider: { ...settings, paymentAcr } });
    await signedIn(server, user);
    const own = copyOf(agent, elsewhere.baseUrl);
    const choice = await own.get(SECURE);
    expect(choice.text).toContain('Sign out everywhere else');
    expect(choice.body).not.toContain('/oauth/account/password');
    const { location } = await own.post(END, fieldsFor(choice, END));
    expect(location).toBe(`${elsewhere.baseUrl}/oauth/account/security`);
  });
});

describe('Back after Allow', () => {
  const wayOn = ({ body }: Answer) => {
    const $ = cheerio.load(body);
    return [$('main a.button').text(), $('main a.button').attr('href') ?? null];
  };

  it.each([
    ['with a payment password', SHOPS],
    ['without one', 'account-info'],
  ])('leads to the application again while its code lives: %s', async (_how, scope) => {
    const request = requestOf(client, { scope });
    const code = await obtainCode(agent, request, user);
    const [text, href] = wayOn(await agent.get(linkTo(request)));
    expect(plain(text ?? '')).toBe('Back to Corner Shop');
    const { status, location } = await agent.get(href ?? '');
    expect([status, location]).toEqual([302, `${client.redirectUri}?code=${code}`]);
    await agent.post('/oauth/token', tokenRequestOf(client, code));
    const after = await agent.get(linkTo(request));
    expect(after.text).toContain('You have just allowed this request');
    expect(wayOn(after)).toEqual(['', null]);
  });

  it('leads to its reviewed website afterwards', async () => {
    const site = 'https://corner.example/';
    for (const reviewed of [true, false]) {
      client = await server.createClient({ name: 'Corner Shop', site, reviewed });
      await obtainToken(agent, client, user, { scope: SHOPS });
      const [, href] = wayOn(await agent.get(linkTo(requestOf(client, { scope: SHOPS }))));
      expect(href).toBe(reviewed ? site : null);
    }
  });

  it('leads nowhere after Reject, nor another user of the browser', async () => {
    const request = requestOf(client, { scope: SHOPS });
    await decide(agent, await reachConsent(agent, request, user), 'reject');
    expect(wayOn(await agent.get(linkTo(request)))).toEqual(['', null]);
    await obtainCode(agent, request, user);
    const outcome = agent.cookies.get('assent_outcome') ?? '';
    const other = await server.createUser();
    agent.cookies.delete('assent_session');
    await signIn(agent, other.login, other.password);
    agent.cookies.set('assent_outcome', outcome);
    expect(wayOn(await agent.get(linkTo(request)))).toEqual(['', null]);
  });
});
