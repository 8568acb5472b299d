import { describe, expect, it } from 'vitest';
import { s256 } from '../../src/secrets/digest.ts';
import { follow } from '../support/account.ts';
import {
  codeOf,
  confirm,
  decide,
  press,
  reachConsent,
  requestOf,
  signIn,
  tokenRequestOf,
  trySignIn,
  verdictOn,
} from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { converse } from '../support/http/rawHttp.ts';
import { ROUTES } from '../support/http/samples.ts';
import { basic, documentOf, expectToken } from '../support/http/tokenRequests.ts';
import { KINDS, ledger, newSecret } from '../support/ledger.ts';
import { createDatabase, createRole } from '../support/postgres/database.ts';
import { commandsOn } from '../support/process/commands.ts';
import { onDatabase, runAssent, spawnServer } from '../support/process/process.ts';
import { createClient, createUser } from '../support/registrations.ts';

// The real server with the most detailed log receives valid secrets, wrong ones and misplaced ones, also during outages. Its
// rows are searched for them when the database is dropped, its output and metrics when it ends.

const database = await createDatabase();
const role = await createRole('superuser');
const variables = { ...onDatabase(role.urlOf(database)), LOG_LEVEL: 'trace', TRUST_PROXY: '1' };
const server = await spawnServer(variables);
const client = await createClient(database.pool, { redirectUri: 'https://shop.example/callback' });
const user = await createUser(database.pool, {
  login: 'anna',
  password: 'Pässword "of" Anna & 100%',
  paymentPassword: 'Anna’s <payment> password',
});
const api = await commandsOn(variables).json('resource create --name API');
const resource = { id: api.resource_id ?? '', secret: api.resource_secret ?? '' };
/** By the names of their fields; set by the first test. */
let secrets: Record<'code' | 'code_verifier' | 'token' | 'payment_password', string> & Record<string, string>;

type Fields = Record<string, string>;

const PATHS = new Set(['/nothing', ...ROUTES.map((route) => route.replace(/^\w+ /, ''))]);

const nearly = (secret: string) => secret.slice(0, -1) + (secret.endsWith('x') ? 'y' : 'x');

/** Opens every form and fills it in correctly. @returns sends them, and gives the statuses */
async function prepareRight(): Promise<() => Promise<number[]>> {
  const [stranger, anna] = [new Agent(server.baseUrl), new Agent(server.baseUrl)];
  const { login, password } = user;
  const { payment_password, code, code_verifier, token } = secrets;
  const signInPage = await stranger.get('/oauth/account');
  const consent = await reachConsent(anna, requestOf(client), user);
  const spending = requestOf(client, { scope: 'payment-shop.limit(7,5000)' });
  const payment = await follow(anna, await press(anna, await reachConsent(anna, spending, user), 'allow'));
  const exchange = tokenRequestOf(client, code, { code_verifier });
  const authorization = `Bearer ${token}`;
  return async () => {
    const answers = [
      await stranger.submit(signInPage, 'login', { login, password }),
      await anna.submit(payment, 'payment_password', { payment_password }),
      await decide(anna, consent, 'allow'),
      await anna.get('/oauth/account'),
      await stranger.post('/oauth/token', exchange),
      await stranger.post('/oauth/introspect', { token }, basic(resource.id, resource.secret)),
      await stranger.post('/oauth/revoke', { token }, basic(client.clientId, client.clientSecret ?? '')),
      await stranger.send('/api/revoke', { method: 'POST', headers: { authorization } }),
    ];
    return answers.map(({ status }) => status);
  };
}

it('the tests’ search for secrets finds one that a process printed', async () => {
  const preload = '--import=data:text/javascript,console.log(process.env.SECRETS)';
  const talkative = { ...variables, NODE_OPTIONS: preload };
  const found = /signing secret, as it is, in line 1 of what /;
  await expect(runAssent(['--help'], talkative)).rejects.toThrow(found);
  await expect((await spawnServer(talkative)).stop()).rejects.toThrow(found);
});

describe('a server at LOG_LEVEL=trace', () => {
  it('issues an active token in a flow that sends every kind of secret', async () => {
    const agent = new Agent(server.baseUrl);
    const code_verifier = newSecret();
    const code_challenge = s256(code_verifier);
    const scope = 'account-info payment-shop.limit(7,5000)';
    const fields = requestOf(client, { scope, code_challenge, code_challenge_method: 'S256' });
    const code = codeOf(await decide(agent, await reachConsent(agent, fields, user), 'allow'));
    const request = tokenRequestOf(client, code, { code_verifier });
    const wrong = { ...request, code_verifier: nearly(code_verifier) };
    expect((await agent.post('/oauth/token', wrong)).status).toBe(400);
    const token = expectToken(await agent.post('/oauth/token', request));
    const asked = await agent.post('/oauth/introspect', { token }, basic(resource.id, resource.secret));
    expect(documentOf(asked)).toMatchObject({ active: true });
    expect((await agent.get('/oauth/account')).text).toContain('Shop');
    secrets = {
      password: user.password,
      payment_password: user.paymentPassword ?? '',
      client_secret: client.clientSecret ?? '',
      resource_secret: resource.secret,
      code,
      code_verifier,
      token,
      ...Object.fromEntries(agent.cookies),
    };
    expect(ledger.kinds()).toEqual([...KINDS, 'database password'].sort());
  });

  it('refuses nearly valid secrets [secrets-1]', async () => {
    const agent = new Agent(server.baseUrl);
    expect(await trySignIn(agent, user.login, nearly(user.password))).toBe('wrong');
    expect(await trySignIn(agent, user.password, user.login)).toBe('wrong'); // in each other's place
    await signIn(agent, user.login, user.password);
    const spending = requestOf(client, { scope: 'payment-shop.limit(7,5000)', instance_name: 'other' });
    const page = await follow(agent, await press(agent, await reachConsent(agent, spending, user), 'allow'));
    const confirmed = await confirm(agent, page, nearly(secrets.payment_password));
    expect(await verdictOn(agent, confirmed)).toBe('wrong');
    const consent = await reachConsent(agent, requestOf(client, { instance_name: 'third' }), user);
    const code = codeOf(await decide(agent, consent, 'allow'));
    const right = tokenRequestOf(client, code);
    const { client_secret, ...bare } = right;
    const wrong = nearly(client_secret ?? '');
    for (const [status, fields, headers] of [
      [400, { ...right, client_secret: wrong }],
      [400, bare, basic(client.clientId, wrong)],
      [400, right, basic(client.clientId, client.clientSecret ?? '')],
      [400, { ...right, code: nearly(code) }],
      [400, { ...right, code_verifier: nearly(secrets.code_verifier) }],
      [200, right],
      [400, right], // sent twice
    ] as [number, Fields, Fields?][])
      expect((await agent.post('/oauth/token', fields, headers)).status).toBe(status);
    const token = nearly(secrets.token);
    const introspect = (secret: string) =>
      agent.post('/oauth/introspect', { token }, basic(resource.id, secret));
    expect((await introspect(resource.secret)).status).toBe(200);
    expect((await introspect(wrong)).status).toBe(401);
    const revoking = { token, client_id: client.clientId, client_secret: wrong };
    expect((await agent.post('/oauth/revoke', revoking)).status).toBe(400);
    await agent.send('/api/revoke', { method: 'POST', headers: { authorization: `Bearer ${token}` } });
    await agent.post('/oauth/sign-out', { form_token: nearly(secrets.assent_visit ?? '') });
  });

  it('never answers 5xx to secrets in wrong places [secrets-2]', async () => {
    expect(PATHS.size).toBeGreaterThan(15);
    const agent = new Agent(server.baseUrl);
    const wrong = misplacements(secrets, { ...tokenRequestOf(client, ''), login: user.login });
    for (const path of PATHS) {
      for (const { url = (same: string) => same, headers = {}, body } of wrong) {
        const init = body === undefined ? {} : { method: 'POST', body };
        expect((await agent.send(url(path), { ...init, headers })).status).toBeLessThan(500);
      }
    }
  });

  it('answers 4xx to malformed HTTP that contains a secret', async () => {
    const statuses = await sendBroken(server.baseUrl, secrets.token);
    expect(statuses.filter((status) => status >= 400 && status < 500).length).toBeGreaterThan(5);
  });

  it('receives secrets during outages of its tables or database, and answers 500 or 503 [secrets-3]', async () => {
    const sendRight = await prepareRight();
    await database.pool.query('alter table sessions add constraint full_up check (false) not valid');
    expect(await sendRight()).toContain(500); // the sign-in
    await database.pool.query('alter schema public rename to hidden');
    expect(new Set(await sendRight())).toEqual(new Set([500]));
    await database.pool.query('alter schema hidden rename to public');
    await database.drop(); // after a search of its rows
    expect(new Set(await sendRight())).toEqual(new Set([503]));
  });

  it('writes no secret to its log or metrics [secrets-4]', async () => {
    for (const status of [200, 400, 500, 503]) expect(server.output()).toContain(`"status":${status},`);
    expect(server.output()).not.toMatch(/failing row/i);
    expect(await server.stop()).toBe(0);
  });
});

/** With a body it is a POST. */
interface Misplacement {
  readonly url?: (path: string) => string;
  readonly headers?: Fields;
  readonly body?: string;
}

/** @param others the other fields of right requests */
function misplacements(secrets: Fields, others: Fields): Misplacement[] {
  const form = new URLSearchParams({ ...others, ...secrets }).toString();
  const text = encodeURIComponent(Object.values(secrets).join(' '));
  const ofClient = `client_id=${others.client_id}&response_type=code`;
  const asForm = { 'content-type': 'application/x-www-form-urlencoded' };
  return [
    { url: (path) => `${path}?${form}` },
    { url: (path) => `${path}?${text}` },
    { url: (path) => `${path};${form}` },
    { url: (path) => `${path}%3F${form}` },
    { url: (path) => `/%zz${path}?${form}` },
    { url: (path) => `${path === '/' ? '' : path}/${secrets.token}` },
    { url: (path) => `${path}=${text}` },
    { url: () => `/${text}` },
    { url: () => `/${secrets.client_secret}` },
    { headers: { 'sec-fetch-dest': text } },
    { headers: oddHeaders(text) },
    { headers: { authorization: `Bearer ${text}` } },
    { headers: { authorization: `Basic ${text}` } },
    { headers: { authorization: text } },
    { headers: { cookie: `assent_session=${text}; assent_visit=${text}; ${text}; ${text}=x` } },
    { headers: { 'x-too-long': text.repeat(100) } },
    { headers: asForm, body: form },
    { headers: asForm, body: `${form}&${form}` },
    { headers: asForm, body: `${form}%ZZ` },
    { headers: asForm, body: `request=${encodeURIComponent(form)}` },
    { headers: asForm, body: `${ofClient}&redirect_uri=${others.redirect_uri}&state=${text}&scope=${text}` },
    { headers: asForm, body: `${ofClient}&redirect_uri=${others.redirect_uri}/${text}` },
    { headers: asForm, body: `${text}=x&client_id=${text}&login=${text}&scope=${text}` },
    { headers: asForm, body: `${form}&${'x'.repeat(100_000)}&${form}` },
    { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ ...others, ...secrets }) },
    { headers: { 'content-type': `multipart/form-data; boundary=${text}` }, body: `--${text}--` },
    { headers: { 'content-type': text }, body: text },
  ];
}

const TEXT_HEADERS = [
  ...['accept', 'cookie2', 'from', 'if-none-match', 'sec-fetch-site', 'set-cookie', 'traceparent'],
  ...['user-agent', 'x-api-key', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-request-id'],
];

function oddHeaders(text: string): Fields {
  const url = `https://shop.example/callback?code=${text}`;
  const all = Object.fromEntries(TEXT_HEADERS.map((name) => [name, text]));
  const forwarded = `for="${text}"`;
  return { ...all, forwarded, 'proxy-authorization': `Basic ${text}`, origin: url, referer: url };
}

/** Sends malformed or incomplete HTTP. @returns the statuses of the answers */
async function sendBroken(baseUrl: string, secret: string): Promise<number[]> {
  const line = `token=${secret}`;
  const form = 'Host: x\r\nContent-Type: application/x-www-form-urlencoded\r\n';
  const texts = [
    `${line}\r\n\r\n`,
    `GET /?${line} HTTP/9.9\r\n\r\n`,
    `GET /?${line} HTTP/1.1\r\nno colon ${line}\r\n\r\n`,
    `${secret} / HTTP/1.1\r\nHost: x\r\n\r\n`,
    `GET http://${secret}/?${line} HTTP/1.1\r\nHost: ${secret}\r\nConnection: close\r\n\r\n`,
    `POST /oauth/token HTTP/1.1\r\n${form}Content-Length: ${secret}\r\n\r\n${line}`,
    `POST /oauth/token HTTP/1.1\r\n${form}Transfer-Encoding: chunked\r\n\r\n${line}\r\n`,
    `POST /oauth/token HTTP/1.1\r\n${form}Transfer-Encoding: ${secret}\r\n\r\n${line}`,
    `POST /oauth/token HTTP/1.1\r\n${form}Expect: ${secret}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
    `POST /oauth/revoke HTTP/1.1\r\n${form}Content-Length: 1000\r\n\r\n${line}`,
    `GET / HTTP/1.1\r\nHost: x\r\nUpgrade: ${secret}\r\nConnection: upgrade\r\n\r\n`,
    `GET / HTTP/1.1\r\nHost: x\r\n${secret}: ${'x'.repeat(40_000)}\r\n\r\n`,
  ];
  const all = await Promise.all(texts.map((text) => converse(baseUrl, text, { hangUp: true })));
  return all.flatMap(({ answers }) => answers).map(({ status }) => status);
}
