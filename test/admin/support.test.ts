import { describe, expect, it, onTestFinished } from 'vitest';
import { ENDPOINTS } from '../../src/admin/endpoints.ts';
import { TEXTS } from '../../src/languages/languages.ts';
import { type AccessLevel, permits } from '../../src/rules/account/role.ts';
import { hexOf, sha256 } from '../../src/secrets/digest.ts';
import { newOperatorToken } from '../../src/secrets/tokens.ts';
import { openDatabase } from '../../src/store/database/database.ts';
import { openAdmin, useAdmin } from '../support/admin.ts';
import { obtainToken } from '../support/flow.ts';
import { Agent, type Answer, formWith } from '../support/http/agent.ts';
import { converse } from '../support/http/rawHttp.ts';
import { ledger, newSecret } from '../support/ledger.ts';
import { useServer } from '../support/server.ts';

// The pages for operators, at the front door: what a browser sends and gets.

const admin = await useAdmin();
const { database, url } = admin;
const { pool } = database;
const server = await useServer({ database });

const HTTP = { origin: url };
const SIGN_IN = 'support-sign-in';
const ROLES = ['reads', 'supports', 'changes', 'destroys'] as const;

const retire = (token: string) =>
  pool.query('update operators set retired_at = clock_timestamp() where token_hash = sha256($1)', [token]);

async function signedIn(role: AccessLevel = 'destroys', token?: string) {
  const agent = new Agent(url);
  const answer = await openDesk(agent, token ?? (await admin.tokenFor(role)));
  expect([answer.status, answer.location]).toEqual([303, '/support']);
  return agent;
}

const openDesk = async (agent: Agent, token: string, headers: Record<string, string> = HTTP) =>
  agent.post('/support/sign-in', { token, back: '/support' }, headers);

async function connected(name = 'Anna Petrova', shop = 'Green Mountain') {
  const [user, client] = [await server.createUser({ name }), await server.createClient({ name: shop })];
  const token = await obtainToken(new Agent(server.baseUrl), client, user, { instance_name: 'Kitchen' });
  const { rows } = await pool.query<{ id: string }>('select grant_id as id from grants where user_id = $1', [
    user.userId,
  ]);
  return { user, client, token, grantId: rows[0]?.id ?? '' };
}

const linksOf = ({ body }: Answer) =>
  Array.from(body.matchAll(/href="([^"]+)"/g), ([, href = '']) => href.replaceAll('&amp;', '&'));

const verbsOn = (answer: Answer) => [
  ...new Set(linksOf(answer).flatMap((href) => /^\/support\/do\/([\w.-]+)/.exec(href)?.[1] ?? [])),
];

const linkTo = (answer: Answer, part: string) => {
  const link = linksOf(answer).find((href) => href.includes(part));
  if (link === undefined) throw new Error(`no link to ${part}: ${answer.text}`);
  return link;
};

const find = async (agent: Agent, q: string) => {
  const answer = await agent.submit(await agent.get('/support'), 'q', { q });
  return answer.location === null ? answer : agent.get(answer.location);
};

/** Presses the button of the page of a verb. */
const act = (agent: Agent, page: Answer, fields: Record<string, string> = {}) =>
  agent.submit(page, 'note', fields);

describe('a phone call', () => {
  it('ends with the application disconnected, and the trail has who did it', async () => {
    const { user, grantId, token } = await connected('Anna of the call');
    const agent = await signedIn('supports');
    const found = await find(agent, 'anna of the CALL');
    expect(found.location).toBe(`/support/users/${encodeURIComponent(user.login)}`);
    const person = await agent.get(found.location ?? '');
    expect(person.text).toContain('Green Mountain (Kitchen)');
    expect(person.text).toContain('See your account number, balance and status');
    const form = await agent.get(linkTo(person, `/support/do/grants.revoke?grant_id=${grantId}`));
    expect(form.text).toContain('It loses its access at once. Payments already made are not undone.');
    const done = await act(agent, form, { note: 'she called: карта украдена' });
    expect(done.status).toBe(303);
    const grant = await agent.get(done.location ?? '');
    expect(grant.text).toContain('Done: Disconnect.');
    expect(linksOf(grant).filter((href) => href.includes('grants.revoke'))).toEqual([]);
    const resource = await server.createResource();
    const response = await fetch(`${server.baseUrl}/oauth/introspect`, {
      method: 'POST',
      headers: { authorization: resource },
      body: new URLSearchParams({ token }),
    });
    expect(await response.json()).toEqual({ active: false });
    const { body } = await admin.call(`GET /v1/audit?grant_id=${grantId}&outcome=revoked_by_operator`);
    expect(body.items).toMatchObject([
      {
        operator: expect.stringMatching(/^supports \d+$/),
        address: '127.0.0.1',
        reference: done.headers.get('x-request-id'),
        detail: { note: 'she called: карта украдена' },
      },
    ]);
    const looks = await admin.call(`GET /v1/audit?user_id=${user.userId}&outcome=user_looked_at`);
    const ours = looks.body.items.filter(({ operator }: { operator: string }) =>
      operator.startsWith('supports'),
    );
    expect(ours).toHaveLength(1);
  });

  it('asks once more, in the API’s own words, before what takes away much', async () => {
    const { user, grantId } = await connected();
    const agent = await signedIn('destroys');
    const address = `/support/do/grants.revoke?login=${encodeURIComponent(user.login)}`;
    const question = await act(agent, await agent.get(address), { note: 'stolen phone' });
    expect([question.status, question.text]).toEqual([
      409,
      expect.stringContaining('This would revoke 1 authorization.'),
    ]);
    expect(question.body).toContain('value="stolen phone"');
    expect((await admin.call(`GET /v1/grants/${grantId}`)).body.state).toBe('active');
    expect((await act(agent, question)).location).toMatch(/^\/support\/users\/.+\?done=grants\.revoke$/);
    expect((await admin.call(`GET /v1/grants/${grantId}`)).body.state).toBe('revoked');
  });
});

describe('signing in to the support pages', () => {
  it('takes an operator’s token, and gives a cookie that only this listener’s pages can send', async () => {
    const token = await admin.tokenFor('reads');
    const agent = new Agent(url);
    expect((await agent.get('/support/users')).page).toBe('support-sign-in');
    const plain = await openDesk(agent, token);
    expect(plain.headers.get('set-cookie')).toMatch(
      /^assent_support=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    const first = agent.cookies.get('assent_support');
    const secure = await openDesk(agent, token, { origin: url.replace('http:', 'https:') });
    expect(secure.status).toBe(303);
    expect(secure.headers.get('set-cookie')).toMatch(
      /^__Host-assent_support=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    );
    const earlier = new Agent(url);
    earlier.cookies.set('assent_support', first ?? '');
    expect((await earlier.get('/support')).page).toBe('support-sign-in'); // a new cookie each time
  });

  it('is refused over plain http, except on this machine', async () => {
    const body = new URLSearchParams({ token: await admin.tokenFor('reads') }).toString();
    const sent = [
      'POST /support/sign-in HTTP/1.1',
      'Host: admin.example',
      'Origin: http://admin.example',
      'Content-Type: application/x-www-form-urlencoded',
      `Content-Length: ${body.length}`,
      `\r\n${body}`,
    ].join('\r\n');
    const { answers } = await converse(url, sent, { answers: 1 });
    const [answer] = answers;
    expect([answer?.status, answer?.headers.get('set-cookie')]).toEqual([403, undefined]);
    expect(answer?.body).toContain('Open this page over https, or at localhost.');
  });

  it('leads back to the page that was asked for, and to no other site', async () => {
    const token = await admin.tokenFor('reads');
    for (const [back, location] of [
      ['/support/users?name=x', '/support/users?name=x'],
      ['//evil.example', '/support'],
      ['https://evil.example/support', '/support'],
      ['/support\\evil', '/support'],
      ['/supporters', '/support'],
    ] as const)
      expect((await new Agent(url).post('/support/sign-in', { token, back }, HTTP)).location).toBe(location);
    const page = await new Agent(url).get('/support/users?name=x');
    expect(page.forms.map(({ fields }) => fields.back)).toContain('/support/users?name=x');
  });

  it('is refused without such a token, and after too many attempts for a while', async () => {
    const other = await openAdmin(pool, [], onTestFinished);
    const at = new Agent(other);
    const answers = [];
    for (let n = 1; n <= 21; n += 1) answers.push(await openDesk(at, `assent_op_${n}`, { origin: other }));
    expect(answers.map(({ status }) => status)).toEqual([...Array.from({ length: 20 }, () => 401), 429]);
    expect(answers[0]?.text).toContain('The operator token is unknown.');
    expect(at.cookies.size).toBe(0);
  });

  it('ends by signing out, at once with the token, and after its time', async () => {
    const token = await admin.tokenFor('reads');
    const [one, two, three] = [
      await signedIn('reads', token),
      await signedIn('reads', token),
      await signedIn(),
    ];
    const pageOf = async (agent: Agent) => (await agent.get('/support')).page;
    const cookies = new Map(one.cookies);
    const form = (await one.get('/support')).forms.find(({ action }) => action === '/support/sign-out');
    await one.post('/support/sign-out', form?.fields ?? {});
    expect(one.cookies.size).toBe(0);
    for (const [name, value] of cookies) one.cookies.set(name, value);
    expect([await pageOf(one), await pageOf(two)]).toEqual([SIGN_IN, 'support-search']);
    await retire(token);
    expect([await pageOf(two), await pageOf(three)]).toEqual([SIGN_IN, 'support-search']);
    await pool.query('update operator_sessions set expires_at = clock_timestamp()');
    expect(await pageOf(three)).toBe(SIGN_IN);
  });

  it('takes a token of OPERATORS_FILE, as long as that has it', async () => {
    const token = newOperatorToken();
    ledger.note('operator token', token);
    const operators = new Map([
      [hexOf(sha256(token)), { name: 'maria', role: 'supports', expiresAt: null } as const],
    ]);
    const at = await openAdmin(pool, [], onTestFinished, operators);
    const agent = new Agent(at);
    await openDesk(agent, token, { origin: at });
    expect((await agent.get('/support')).text).toContain('maria, with the role supports');
    operators.clear();
    expect((await agent.get('/support')).page).toBe(SIGN_IN);
  });

  it('lasts 8 hours at most, and no longer than the token', async () => {
    const long = await admin.tokenFor('reads', 2);
    const short = await admin.tokenFor('reads', 2);
    await pool.query(
      `update operators set expires_at = clock_timestamp() + interval '1 hour' where token_hash = sha256($1)`,
      [short],
    );
    await pool.query('delete from operator_sessions');
    for (const token of [long, short]) await signedIn('reads', token);
    const { rows } = await pool.query(
      'select round(extract(epoch from expires_at - created_at) / 3600)::int as hours from operator_sessions order by 1',
    );
    expect(rows).toEqual([{ hours: 1 }, { hours: 8 }]);
  });
});

describe('a form of the support pages', () => {
  const block = async (agent: Agent, login: string) =>
    agent.get(`/support/do/users.block?login=${encodeURIComponent(login)}`);
  const statusOf = async (login: string) =>
    (await admin.call(`GET /v1/users/${encodeURIComponent(login)}`)).body.status;

  it('is refused from another origin', async () => {
    const [{ login }, agent] = [await server.createUser(), await signedIn()];
    const { action, fields } = formWith(await block(agent, login), 'note');
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site', origin: url },
    ] as Record<string, string>[]) {
      const { status, text } = await agent.post(action, fields, headers);
      expect([status, text]).toEqual([403, expect.stringContaining('This form comes from another page.')]);
    }
    expect((await openDesk(new Agent(url), 'x', { origin: 'https://evil.example' })).status).toBe(403);
    expect(await statusOf(login)).toBe('active');
    expect((await agent.post(action, fields, { 'sec-fetch-site': 'same-origin' })).status).toBe(303);
    expect(await statusOf(login)).toBe('blocked');
  });

  it('is refused without its token, with that of another form or session, and in another format', async () => {
    const [{ login }, agent, other] = [await server.createUser(), await signedIn(), await signedIn()];
    const { action, fields } = formWith(await block(agent, login), 'note');
    const { form_token: otherForm = '' } = formWith(await agent.get('/support'), 'q').fields;
    const { form_token: otherSession = '' } = formWith(await block(other, login), 'note').fields;
    for (const form_token of ['', 'x', otherForm, otherSession])
      expect((await agent.post(action, { ...fields, form_token })).text).toContain(
        'This form is no longer valid.',
      );
    const json = { 'content-type': 'application/json' };
    const headers = [json, { 'content-type': 'text/plain' }];
    for (const one of headers)
      expect((await agent.post(action, JSON.stringify(fields), one)).status).toBeGreaterThanOrEqual(400);
    expect(await statusOf(login)).toBe('active');
  });

  it('needs a session: without one, or after its token was retired, nothing is done', async () => {
    const [{ login }, token] = [await server.createUser(), await admin.tokenFor('destroys')];
    const agent = await signedIn('destroys', token);
    const page = await block(agent, login);
    await retire(token);
    expect((await act(agent, page)).page).toBe(SIGN_IN);
    expect((await act(new Agent(url), page)).page).toBe(SIGN_IN);
    expect(await statusOf(login)).toBe('active');
  });

  it('counts with the role that the operator has when it arrives', async () => {
    const [{ login }, token] = [await server.createUser(), await admin.tokenFor('destroys')];
    const agent = await signedIn('destroys', token);
    const page = await block(agent, login);
    await pool.query(`update operators set role = 'reads' where token_hash = sha256($1)`, [token]);
    const { status, text } = await act(agent, page);
    expect([status, text]).toEqual([403, expect.stringContaining('this requires an operator with the role')]);
    expect(await statusOf(login)).toBe('active');
  });

  it('may be pressed by two operators at once', async () => {
    const { grantId } = await connected();
    const agents = [await signedIn(), await signedIn()];
    const address = `/support/do/grants.revoke?grant_id=${grantId}`;
    const pages = await Promise.all(agents.map((agent) => agent.get(address)));
    const answers = await Promise.all(agents.map((agent, at) => act(agent, pages[at] as Answer)));
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    const { body } = await admin.call(`GET /v1/audit?grant_id=${grantId}&outcome=revoked_by_operator`);
    expect(body.items).toHaveLength(1);
  });

  it('shows the API’s answer to what it can’t accept, and keeps what was typed, except secrets', async () => {
    const [{ login }, agent] = [await server.createUser(), await signedIn()];
    const form = await agent.get(`/support/do/users.set-password?login=${encodeURIComponent(login)}`);
    const password = newSecret().slice(0, 4);
    const answer = await act(agent, form, { password, note: 'asked by phone' });
    expect([answer.status, answer.text]).toEqual([
      422,
      expect.stringContaining('the password has fewer than 8 characters'),
    ]);
    expect(answer.body).toContain('value="asked by phone"');
    expect(answer.body).not.toContain(password);
    const changed = await act(
      agent,
      await agent.get(`/support/do/users.update?login=${encodeURIComponent(login)}`),
      {
        new_login: 'renamed user',
      },
    );
    expect(changed.location).toBe('/support/users/renamed%20user?done=users.update');
  });

  it('shows a new secret once, in the answer', async () => {
    const agent = await signedIn();
    const form = await agent.get('/support/do/clients.create');
    const made = await act(agent, form, {
      name: 'Tea',
      redirect_uri: 'https://tea.example/',
      verified: 'true',
    });
    expect([made.status, made.text]).toEqual([200, expect.stringMatching(/Application secret[0-9a-f]{64}/i)]);
    const most = await agent.get(linkTo(made, '/support/clients/'));
    const change = await act(agent, await agent.get(linkTo(most, 'clients.update')), {
      most: '{"days": 30, "sum": "5000"}',
      allowed_rights: 'account-info, payment-shop',
    });
    expect((await agent.get(change.location ?? '')).text).toContain('payment-shop');
  });
});

describe('the search', () => {
  it('finds a user, a connection, an application and a reference by what an operator was told', async () => {
    const { user, client, grantId } = await connected('Vera Unlike', 'Unlike Shop');
    await admin.call(`PATCH /v1/users/${user.userId}`, { external_id: 'crm-77' });
    const agent = await signedIn('reads');
    const page = await new Agent(server.baseUrl).get('/oauth/authorize?client_id=unknown-one');
    const reference = page.headers.get('x-request-id') ?? '';
    const receipt = await pool.query<{ number: string }>(
      `select to_char(at at time zone 'UTC', 'YYYY-MM-DD-') || reference as number from audit_events where grant_id = $1 and kind = 'approved'`,
      [grantId],
    );
    const number = receipt.rows[0]?.number ?? '';
    const refusal = async () => (await find(agent, reference)).location;
    await expect.poll(refusal, { timeout: 30_000 }).toBe(`/support/refusals/${reference}`);
    const login = `/support/users/${encodeURIComponent(user.login)}`;
    for (const [text, location] of [
      [user.login.toUpperCase(), login],
      ['vera unlike', login],
      ['unl ver', login],
      ['crm-77', login],
      [user.userId, `/support/users/${user.userId}`],
      [` ${grantId.toUpperCase()} `, `/support/grants/${grantId}`],
      [number, `/support/refusals/${number}`],
      ['unlike shop', `/support/clients/${client.clientId}`],
      [client.clientId, `/support/clients/${client.clientId}`],
    ] as const) {
      const answer = await find(agent, text);
      expect([text, answer.location]).toEqual([text, location]);
      expect((await agent.get(location)).status).toBe(200);
    }
  });

  it('explains a refusal to the person, the operator and the application’s developers, and counts its kind', async () => {
    const client = await server.createClient({ name: 'Shop of faults' });
    const agent = await signedIn('supports');
    const asked = { client_id: client.clientId, response_type: 'code', redirect_uri: client.redirectUri };
    const query = new URLSearchParams({ ...asked, scope: 'no-such-right' });
    const seen = await new Agent(server.baseUrl).get(`/oauth/authorize?${query}`);
    const code = { grant_type: 'authorization_code', code: 'x', client_id: client.clientId };
    const [first, second] = [1, 2].map(() => new Agent(server.baseUrl).post('/oauth/token', code));
    await first;
    const exchange = await second;
    const referenceOf = (answer?: Answer) => answer?.headers.get('x-request-id') ?? '';
    const refusal = async (reference: string) => {
      const address = `/support/refusals/${reference}`;
      await expect.poll(async () => (await agent.get(address)).status, { timeout: 30_000 }).toBe(200);
      return (await agent.get(address)).text;
    };
    const ofPage = await refusal(referenceOf(seen));
    const title = 'The application asked for something that isn’t possible';
    const reason = 'The request names a right that does not exist here.';
    expect(seen.text).toMatch(new RegExp(`${title}.*${reason}`));
    expect(ofPage).toContain(`What the person saw ${title}${reason}`);
    expect(ofPage).toContain('Go back to Shop of faults and start again from there.');
    expect(ofPage).toMatch(/For the application’s developers invalid_scope: .+ Ask the service/);
    expect(await refusal(referenceOf(exchange))).toContain('What the person saw No page of ours');
    const application = await agent.get(`/support/clients/${client.clientId}`);
    expect(application.text).toMatch(/2 \d+ \w+ \d{4} at \d\d:\d\d [\w+]+ [0-9a-f]{10} 40[01] /);
  });

  it('takes a token only in a form, and shows whose it is', async () => {
    const { token, user } = await connected();
    const agent = await signedIn('reads');
    const answer = await agent.submit(await agent.get('/support'), 'q', { q: token });
    expect([answer.status, answer.location, answer.text]).toEqual([
      200,
      null,
      expect.stringContaining(user.login),
    ]);
    expect(answer.body).not.toContain(token);
  });

  it('says so if there is nothing, and is bounded', async () => {
    const agent = await signedIn('reads');
    await pool.query(
      `insert into users (user_id, login, login_key, name) select gen_random_uuid(), 'many ' || n, 'many ' || n, 'Many' from generate_series(1, 10000) n`,
    );
    for (const text of [
      '%',
      '_',
      '\\',
      "'",
      '..',
      '\0',
      'x'.repeat(5_000),
      '2026-11-28-ffffffffff',
      crypto.randomUUID(),
    ]) {
      const answer = await find(agent, text);
      expect([text.slice(0, 40), answer.status, answer.text]).toEqual([
        text.slice(0, 40),
        200,
        expect.stringContaining('No user, connection or reference is called that.'),
      ]);
    }
    expect((await find(agent, 'Many 7')).location).toBe('/support/users/many%207');
    const many = await find(agent, 'many');
    expect(many.text).toContain('There are more');
    expect(many.body.match(/<tr /g)?.length).toBeLessThan(50);
    expect((await find(agent, '')).text).not.toContain('No user');
  });
});

describe('the pages', () => {
  it('show each list to every role, and leave the filter that it needs to the API', async () => {
    const lists = ENDPOINTS.filter(({ operation, path }) => operation.isList && !path.includes('{'));
    for (const role of ROLES) {
      const agent = await signedIn(role);
      for (const { name, path } of lists) {
        const { status } = await agent.get(path.replace('/v1', '/support'));
        expect([name, status]).toEqual([name, name === 'grants.list' ? 422 : 200]);
      }
    }
  });

  it('show each thing to every role, and only the verbs that it may use', async () => {
    const { user, client, grantId } = await connected();
    const all = await signedIn('destroys');
    const effectOf = (verb: string) =>
      ENDPOINTS.find(({ name }) => name === verb)?.operation.effect ?? 'reads';
    for (const thing of [`users/${user.userId}`, `clients/${client.clientId}`, `grants/${grantId}`]) {
      const verbs = verbsOn(await all.get(`/support/${thing}`));
      expect(verbs).toContain('grants.revoke');
      for (const role of ROLES) {
        const agent = await signedIn(role);
        const page = await agent.get(`/support/${thing}`);
        const allowed = verbs.filter((verb) => permits(role, effectOf(verb)));
        expect([thing, role, verbsOn(page)]).toEqual([thing, role, allowed]);
        for (const verb of allowed) expect((await agent.get(linkTo(page, verb))).status).toBe(200);
      }
    }
  });

  it.each(ROLES)('answer each verb as the API does: role %s', async (role) => {
    const agent = await signedIn(role);
    for (const { name, operation } of ENDPOINTS.filter(({ method }) => method !== 'GET')) {
      const { status } = await act(agent, await agent.get(`/support/do/${name}`));
      expect([name, status === 403]).toEqual([name, !permits(role, operation.effect)]);
    }
  });

  it('escape what others named', async () => {
    const { user } = await connected('<script>alert(1)</script>', '"><img src=x onerror=alert(1)>');
    const agent = await signedIn();
    for (const path of [
      'users',
      `users/${user.userId}`,
      `do/users.block?login=${user.userId}`,
      'clients',
      'audit',
    ]) {
      const { body } = await agent.get(`/support/${path}`);
      expect(body).not.toMatch(/<script|<img/);
    }
    const { body } = await agent.get('/support?q="><script>alert(1)</script>');
    expect(body).not.toMatch(/<script/);
    expect((await agent.get('/support/users?name=%22%3E%3Cscript%3E')).body).not.toMatch(/<script/);
  });

  it('are in no frame, run no script, are not stored, and post only to us', async () => {
    const agent = await signedIn();
    for (const path of ['/support', '/support/users', '/support/nothing', '/support/do/users.create']) {
      const { headers } = await agent.get(path);
      const policy = headers.get('content-security-policy');
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain("form-action 'self'");
      expect(policy).not.toContain('script-src');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('cache-control')).toBe('no-store');
    }
    const style =
      /href="(\/support\/style-[0-9a-f]+\.css)"/.exec((await agent.get('/support')).body)?.[1] ?? '';
    expect((await fetch(url + style)).headers.get('content-type')).toBe('text/css; charset=utf-8');
  });

  it('say that there is no such thing, page or kind of id', async () => {
    const [agent, { client }] = [await signedIn(), await connected()];
    for (const path of [
      'nothing',
      'users/missing',
      `grants/${client.clientId}`,
      'do/users.fly',
      'audit/next',
      '..%2fv1',
    ])
      expect([path, (await agent.get(`/support/${path}`)).status]).toEqual([path, 404]);
    const gone = await act(agent, await agent.get('/support/do/users.block?login=missing'));
    expect([gone.status, gone.text]).toEqual([404, expect.stringContaining('there is no user missing')]);
  });

  it('are in the language of the browser', async () => {
    const token = await admin.tokenFor('reads');
    const agent = new Agent(url, { 'accept-language': 'ru-KZ, en;q=0.5' });
    await openDesk(agent, token);
    const answer = await agent.get('/support');
    expect(answer.body).toContain('<html lang="ru">');
    expect(answer.text).toContain(TEXTS.ru.support.whose);
  });

  it('have words for each verb and noun of the API', () => {
    const { verbs, names } = TEXTS.en.support;
    const said = ENDPOINTS.filter(({ name }) => name !== 'audit.next').flatMap(({ name }) => name.split('.'));
    const known = [...Object.keys(verbs), ...Object.keys(names), 'list'];
    expect(said.filter((word) => !known.includes(word))).toEqual([]);
  });

  it('say that the database is away, with 503', async () => {
    const away = openDatabase('postgres://nobody@127.0.0.1:1/none');
    const agent = new Agent(await openAdmin(away, [], onTestFinished));
    agent.cookies.set('assent_support', 'x'.repeat(43));
    const { status, text, headers } = await agent.get('/support');
    expect([status, headers.get('retry-after')]).toEqual([503, '5']);
    expect(text).toContain('We can’t answer just now');
    await away.end();
  });

  it('leave a line in the log as the API does, without what was looked for', async () => {
    const [{ login }, agent] = [await server.createUser(), await signedIn()];
    admin.logLines.length = 0;
    await agent.get(`/support/users/${encodeURIComponent(login)}`);
    const lines = admin.logLines.map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      {
        operator: expect.stringContaining('destroys'),
        method: 'GET',
        path: '/support/users/:login',
        status: 200,
      },
    ]);
    expect(admin.logLines.join('')).not.toContain(login);
  });

  it('are not served at the public address, nor by the API to a bearer', async () => {
    expect((await new Agent(server.baseUrl).get('/support')).status).toBe(404);
    const token = await admin.tokenFor('reads');
    const answer = await fetch(`${url}/support/users`, { headers: { authorization: `Bearer ${token}` } });
    expect(await answer.text()).toContain(`data-page="${SIGN_IN}"`);
    const agent = await signedIn();
    expect((await agent.get('/v1/users')).status).toBe(401);
  });
});
