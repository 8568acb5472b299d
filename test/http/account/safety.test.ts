import { beforeEach, describe, expect, it } from 'vitest';
import { stopEverything, stopToken } from '../../../src/flows/account/disconnect.ts';
import { follow, insertGrants, isSignedIn, press, sessionOf, signedIn } from '../../support/account.ts';
import { introspect, obtainCode, obtainToken, reachConsent, requestOf, signIn } from '../../support/flow.ts';
import { Agent, type Answer } from '../../support/http/agent.ts';
import { rowsOf } from '../../support/postgres/rows.ts';
import { CALLER, type TestClient, type TestUser, useServer } from '../../support/server.ts';

// What keeps a thief out, and tells of one.

const server = await useServer();
const { pool } = server.database;
const resource = await server.createResource();

let client: TestClient;
let user: TestUser;
let agent: Agent;

beforeEach(async () => {
  client = await server.createClient({ name: 'Corner Shop' });
  user = await server.createUser();
  agent = await signedIn(server, user);
});

const PAGES = ['/account', '/account/security'];
const BOX = 'class="warnings"';
const SET = 'We set a new password for you';

/** A warning as its page has it: the event, one line of facts, the question, and both answers. */
const told = (event: string, network: string, question = 'Was this you\\?') =>
  new RegExp(
    `${event} ?\\d+ \\w+ \\d{4} at \\d\\d:\\d\\d UTC · ${network} ${question} Yes, (this was me|I did) No, secure my account`,
  );

/** On which of the pages a browser reads some words. */
const areSaid = async (by: Agent, words: string) =>
  (await Promise.all(PAGES.map((path) => by.get(path)))).map(({ text }) => text.includes(words));

/** The links of the box of warnings. */
const linksOf = ({ body }: Answer) =>
  /<section class="warnings"[\s\S]+?<\/section>/.exec(body)?.[0].match(/(?<=href=")[^"]+/g);

interface Noted {
  readonly count?: number;
  readonly days?: number;
  readonly by?: Pick<TestClient, 'clientId'> | null;
  readonly from?: string;
}

/** Of an approval that was confirmed in another browser. */
const CONFIRMED = { confirmed_by: 'payment_password', session: 'another' };

/** Notes events of the user, the newest so many days ago, the others a minute apart before it. */
const note = (kind: string, { count = 1, days = 0, by = null, from = '203.0.113.77' }: Noted = {}) =>
  pool.query(
    `insert into audit_events (at, kind, user_id, client_id, address, detail)
     select now() - make_interval(days => $5, mins => n - 1), $1, $2, $3, $4, $7 from generate_series(1, $6::int) n`,
    [
      kind,
      user.userId,
      by?.clientId ?? null,
      from,
      days,
      count,
      kind.startsWith('approved') ? CONFIRMED : null,
    ],
  );

describe('a security warning', () => {
  it('names the use of the payment password elsewhere, with time and place, and asks one question', async () => {
    const spending = requestOf(client, { scope: 'payment-shop' });
    await obtainCode(agent, spending, user);
    for (const path of PAGES)
      expect((await agent.get(path)).text).not.toContain('was used in another browser');
    const elsewhere = new Agent(server.baseUrl);
    elsewhere.cookies.set('assent_device', agent.cookies.get('assent_device') ?? '');
    await obtainCode(elsewhere, spending, user);
    for (const path of PAGES) {
      const page = await agent.get(path);
      expect(page.text).toMatch(
        told('Your payment password was used in another browser, for Corner Shop', 'IP address 127.0.0.x'),
      );
      expect(page.body).toMatch(
        /<strong>Your payment password was used [^<]+<bdi>Corner Shop<\/bdi><\/strong>/,
      );
      expect(linksOf(page)).toEqual(['/account/stop']);
    }
  });

  it.each([
    [
      'password_guessed',
      'A wrong password was entered several times, so sign-in was paused for a while',
      'IP address 203.0.113.x',
    ],
    [
      'payment_password_guessed',
      'A wrong payment password was entered several times in a browser signed in as you',
      'IP address 203.0.113.x',
    ],
    [
      'replayed',
      'A one-time code for Corner Shop was used twice, so we ended the access that it gave',
      'unknown IP address', // that of the application
      'Did you connect it yourself\\? Then connect it again from inside the application\\.',
    ],
    [
      'user_password_set',
      SET,
      'IP address 203.0.113.x',
      'Did you ask us to\\? Then choose a password of your own\\.',
    ],
  ])('reports %s', async (kind, event, network, question = undefined) => {
    await note(kind, { by: kind === 'replayed' ? client : null });
    for (const path of PAGES) expect((await agent.get(path)).text).toMatch(told(event, network, question));
  });

  it.each(PAGES)('is hidden in a browser that dismissed it on %s, and not in another one', async (path) => {
    const other = await signedIn(server, user);
    await note('replayed', { by: client });
    const after = await press(agent, await agent.get(path), '/account/warnings');
    expect(after.page).toBe(path === '/account' ? 'account' : 'security');
    const says = (by: Agent) => areSaid(by, 'used twice');
    expect([...(await says(agent)), ...(await says(other))]).toEqual([false, false, true, true]);
    await note('user_password_set');
    expect((await agent.get(path)).text).toContain(SET);
    expect(await says(agent)).toEqual([false, false]);
  });
});

describe('several warnings', () => {
  const says = async (page: Answer) => [
    page.text.includes(SET),
    page.text.includes('used twice'),
    page.text.includes('was used in another browser'),
  ];

  it.each(PAGES)(
    'on %s are shown as one box and a fold with the others, each with its own button',
    async (path) => {
      await note('approved', { days: 2, by: client });
      await note('replayed', { days: 1, by: client });
      await note('user_password_set');
      const page = await agent.get(path);
      expect(await says(page)).toEqual([true, true, true]);
      expect(page.text).toMatch(
        /2 more alerts .+ Do you recognise all of these\? Yes, all of them No, secure/,
      );
      const [first, others, ...more] = page.forms.filter(({ action }) => action === '/account/warnings');
      expect([more, linksOf(page)]).toEqual([[], ['/account/stop', '/account/stop']]);
      const rest = await follow(agent, await agent.post('/account/warnings', first?.fields ?? {}));
      expect(await says(rest)).toEqual([false, true, true]);
      const other = await signedIn(server, user);
      const its = (await other.get(path)).forms.filter(({ action }) => action === '/account/warnings');
      expect(
        await says(await follow(other, await other.post('/account/warnings', its[1]?.fields ?? {}))),
      ).toEqual([true, false, false]);
      expect(
        await says(await follow(agent, await agent.post('/account/warnings', others?.fields ?? {}))),
      ).toEqual([false, false, false]);
    },
  );
});

const MORE = 'There is more in your history.';

describe('a warning is not hidden', () => {
  it('by many wrong passwords', async () => {
    await note('approved', { days: 1, by: client });
    for (const from of ['198.51.100.7', '192.0.2.7', '2001:db8:1::7'])
      await note('password_guessed', { count: 300, from });
    for (const path of PAGES) {
      const { text } = await agent.get(path);
      expect(text).toContain('Your payment password was used in another browser, for Corner Shop');
      expect(text).toContain('A wrong password was entered several times');
    }
  });

  it('by frequent payments for another application: it shows the count, and that there are more', async () => {
    const harmless = await server.createClient({ name: 'Harmless' });
    await note('approved', { days: 1, by: client });
    await note('approved', { count: 50, by: harmless });
    const { text } = await agent.get('/account');
    expect(text).toContain('Your payment password was used in another browser, for Corner Shop');
    expect(text).toContain('50 times since ');
    expect(text).not.toContain(MORE);
    await note('approved', { count: 300, by: harmless });
    expect((await agent.get('/account')).text).toContain(MORE);
    const after = await press(agent, await agent.get('/account'), '/account/warnings');
    expect(after.text).toContain('Your payment password was used in another browser, for Corner Shop');
  });

  it.each([
    ['203.0.113.77', '203.0.113.x'],
    ['2001:db8:1::7', '2001:db8:1:x'],
  ])('by later acts of the owner elsewhere (%s)', async (address, network) => {
    await note('approved', { days: 1, by: client, from: address });
    expect((await agent.get('/account')).text).not.toContain(MORE);
    await note('approved', { by: client, from: '198.51.100.7' });
    const { text } = await agent.get('/account');
    expect(text).toContain(`IP address ${network}`);
    expect(text).toContain('IP address 198.51.100.x');
    expect(text).not.toContain(MORE);
    await note('approved_again', { by: client, from: '198.51.100.8' });
    const again = (await agent.get('/account')).text;
    expect(again.match(/was used in another browser/g)).toHaveLength(2);
    expect(again).toContain('2 times since ');
  });

  it('by using the payment password in many networks', async () => {
    await note('replayed', { days: 1, by: client });
    for (let n = 1; n <= 12; n += 1) await note('approved', { by: client, from: `198.51.${n}.7` });
    const { text } = await agent.get('/account');
    expect(text).toContain('A one-time code for Corner Shop was used twice');
    expect(text.match(/was used in another browser/g)).toHaveLength(9);
    expect(text).toContain(MORE);
  });

  it('by the form of an earlier page', async () => {
    await note('replayed', { days: 1, by: client });
    const earlier = await agent.get('/account');
    await note('user_password_set');
    await press(agent, await agent.get('/account'), '/account/warnings');
    const after = await press(agent, earlier, '/account/warnings');
    expect(after.text).not.toContain(SET);
  });
});

describe('a sign-in', () => {
  const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';
  const WARNED = 'New sign-in with';
  const says = (by: Agent) => areSaid(by, WARNED);

  it('from an unknown browser is reported in the others, with time and place', async () => {
    const thief = new Agent(server.baseUrl, { 'user-agent': FIREFOX });
    expect(await says(agent)).toEqual([false, false]);
    await signIn(thief, user.login, user.password);
    for (const path of PAGES) {
      const page = await agent.get(path);
      expect(page.text).toMatch(told('New sign-in with Firefox on Linux', 'IP address 127.0.0.x'));
      expect(linksOf(page)).toEqual(['/account/stop']);
    }
  });

  it('is not reported in its own browser, nor in a later session there, however the earlier one ended', async () => {
    const [other, own] = [await server.createUser(), new Agent(server.baseUrl)];
    for (const end of ['sign-out', 'loss', 'another user']) {
      await signIn(own, other.login, other.password);
      expect(await says(own)).toEqual([false, false]);
      if (end === 'sign-out') await press(own, await own.get('/account'), '/sign-out');
      own.cookies.delete('assent_session');
      if (end === 'another user') await signIn(own, user.login, user.password);
      own.cookies.delete('assent_session');
    }
    await signIn(own, other.login, other.password);
    expect(await says(own)).toEqual([false, false]);
  });

  it('from a known browser is not reported', async () => {
    const known = await signedIn(server, user);
    await press(agent, await agent.get('/account'), '/account/warnings');
    known.cookies.delete('assent_session');
    await signIn(known, user.login, user.password);
    expect(await says(agent)).toEqual([false, false]);
  });

  it('is not reported if the trail lacks its session', async () => {
    await pool.query(
      `insert into audit_events (kind, user_id, address, detail)
       values ('signed_in', $1, '203.0.113.77', '{"known_device": false, "browser": "Firefox", "system": "Linux"}')`,
      [user.userId],
    );
    expect(await says(agent)).toEqual([false, false]);
  });
});

const ACTION = '/account/stop';

describe('“Stop everything”', () => {
  it('is not reported complete while an old authorization lives behind thousands of ended ones', async () => {
    await obtainToken(agent, client, user);
    await pool.query("update grants set confirmed_at = confirmed_at - interval '1 day'");
    await insertGrants(server, { user, client, count: 3_000, expired: true });
    const after = await press(agent, await agent.get(ACTION), ACTION);
    expect(after.text).toContain('Everything is stopped');
    await pool.query('update grants set revoked_at = null where token_hash is not null');
    expect((await agent.get('/account')).text).toContain('Not everything is stopped yet');
  });

  it('disconnects every application and signs out every other browser, with an event for each', async () => {
    const others = [await signedIn(server, user), await signedIn(server, user)];
    const clients = [client, await server.createClient(), await server.createClient()];
    const tokens = await Promise.all(clients.map((one) => obtainToken(agent, one, user)));
    const another = await server.createUser();
    const stranger = await signedIn(server, another);
    const kept = await obtainToken(stranger, client, another);
    const after = await press(agent, await agent.get(ACTION), ACTION);
    expect(after.text).toContain(
      'Everything is stopped: no application is connected, and no other browser is signed in.',
    );
    expect(after.text).toContain('No application is connected to your account.');
    for (const token of tokens) expect(await introspect(server, resource, token)).toEqual({ active: false });
    expect(await introspect(server, resource, kept)).toMatchObject({ active: true });
    const signedInStill = await Promise.all([agent, ...others, stranger].map(isSignedIn));
    expect(signedInStill).toEqual([true, false, false, true]);
    const { rows } = await pool.query(
      `select kind, count(*)::int from audit_events
        where user_id = $1 and kind in ('revoked_by_user', 'other_sessions_ended') and address is not null and reference is not null
        group by kind order by kind`,
      [user.userId],
    );
    expect(rows).toEqual([
      { kind: 'other_sessions_ended', count: 1 },
      { kind: 'revoked_by_user', count: 3 },
    ]);
  });

  it('takes one press, also for thousands', async () => {
    await insertGrants(server, { user, client, count: 2_000 });
    const { text } = await press(agent, await agent.get(ACTION), ACTION);
    expect(text).toContain('Everything is stopped');
    const { rows } = await pool.query(
      'select count(*)::int from grants where user_id = $1 and revoked_at is null',
      [user.userId],
    );
    expect(rows).toEqual([{ count: 0 }]);
  });

  it('dismisses every warning in its browser, and none in another one', async () => {
    await note('replayed', { by: client });
    await note('user_password_set');
    const stop = await agent.get(ACTION);
    for (const path of PAGES) expect((await agent.get(path)).body).toContain(BOX);
    const after = await press(agent, stop, ACTION);
    for (const page of [after, ...(await Promise.all(PAGES.map((path) => agent.get(path))))])
      expect(page.body).not.toContain(BOX);
    expect(await areSaid(await signedIn(server, user), 'used twice')).toEqual([true, true]);
    await note('user_password_set');
    expect([await areSaid(agent, SET), await areSaid(agent, 'used twice')]).toEqual([
      [true, true],
      [false, false],
    ]);
  });

  it('says that something is left if so', async () => {
    await obtainToken(agent, client, user);
    const session = await sessionOf(server, agent);
    const late = { ...CALLER, decideBy: performance.now() };
    const stopped = stopEverything(server.context, session, stopToken(server.context, session), late);
    await expect(stopped).rejects.toThrow('after its deadline');
    expect((await agent.get('/account')).text).not.toContain('stopped');
    expect((await press(agent, await agent.get(ACTION), ACTION)).text).toContain('Everything is stopped');
    await signedIn(server, user);
    const left = await agent.get('/account');
    expect(left.text).toContain('Not everything is stopped yet. Press “Stop everything” again.');
  });

  it('signs out others also after too many decisions of the user, or of a thief', async () => {
    const thief = await signedIn(server, user);
    await obtainToken(agent, client, user);
    await pool.query('update users set decisions = 2000, decided_at = clock_timestamp() where user_id = $1', [
      user.userId,
    ]);
    const page = await press(agent, await agent.get(ACTION), ACTION);
    expect([page.status, page.page, page.headers.get('retry-after')]).toEqual([429, 'stop', '60']);
    expect(page.text).toContain('your applications are not disconnected yet');
    expect(await isSignedIn(thief)).toBe(false);
    expect((await agent.get('/account')).text).toContain('Corner Shop');
  });

  it('refuses the form of another session, and says so', async () => {
    const elsewhere = await signedIn(server, user);
    const before = await rowsOf(server.database);
    const { text } = await press(agent, await elsewhere.get(ACTION), ACTION);
    expect(text).toContain('Nothing has been changed yet: the page was out of date.');
    expect(await rowsOf(server.database)).toBe(before);
  });

  it('says so when the session has ended, and continues after signing in', async () => {
    await obtainToken(agent, client, user);
    const page = await agent.get(ACTION);
    await pool.query('delete from sessions where user_id = $1', [user.userId]);
    const asked = await press(agent, page, ACTION);
    expect(asked.page).toBe('sign-in');
    expect(asked.text).toContain('Nothing has been changed yet: you were no longer signed in.');
    const { login, password } = user;
    await agent.submit(asked, 'login', { login, password });
    expect((await press(agent, await agent.get(ACTION), ACTION)).text).toContain('Everything is stopped');
  });

  it('takes two presses from every page of a signed-in user', async () => {
    const consent = await reachConsent(agent, requestOf(client), user);
    const own = ['/account', '/account/history', '/account/security', '/account/password'];
    const pages = await Promise.all(own.map((path) => agent.get(path)));
    for (const { body } of [consent, ...pages]) expect(body).toContain('href="/account/stop"');
    const page = await agent.get(ACTION);
    expect(page.body).not.toContain('<details');
    expect(page.text).toContain(
      'This disconnects all applications at once and signs out every other browser.',
    );
    expect((await new Agent(server.baseUrl).get(ACTION)).location).toBe(`${server.baseUrl}/account`);
  });
});
