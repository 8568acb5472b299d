import { createHash } from 'node:crypto';
import { expect, vi } from 'vitest';
import { CONSENT_FORM_MS } from '../../src/rules/common/lifetimes.ts';
import { sha256 } from '../../src/secrets/digest.ts';
import type { Approval } from '../../src/store/authorize/approvals.ts';
import { Agent, type Answer } from './agent.ts';
import {
  introspect,
  obtainCode,
  obtainToken,
  reachConsent,
  requestOf,
  signIn,
  tokenRequestOf,
} from './flow.ts';
import { CALLER, type TestClient, type TestServer, type TestUser } from './server.ts';

type Values = Readonly<Record<string, string>>;

/** A request that is right in every way, and what it gets. */
export interface Sample {
  /** Programs are answered in JSON, people with pages. */
  readonly reader: 'program' | 'person';
  /** Its parameters: in the body of a POST, in the query otherwise. */
  readonly fields: Values;
  readonly headers: Values;
  readonly status: number;
  /** What an answer holds, in its headers or its body, only when the request is right in all that it `needs`. */
  readonly gives?: RegExp;
  /** Fields, and headers as `header cookie`, that have to be what they are. */
  readonly needs: readonly string[];
}

const LOOK_AT = { disconnected: 'x', disconnected_all: 'x', newer: 'x', older: 'x' };
const VERIFIER = 'a-code-verifier-of-the-tests-with-43-letters-or-more';
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');
const SPENDING = 'payment-shop.limit(7,5000) money-source("wallet")';

/** Every route; what `GET` answers, `HEAD` answers too. In this order no request takes away what another needs. */
export const ROUTES = [
  'GET /',
  'GET /sign-in',
  'GET /payment-password',
  'GET /oauth/authorize',
  'POST /oauth/authorize',
  'POST /sign-in',
  'GET /reject',
  'POST /reject',
  'POST /payment-password',
  'POST /consent',
  'GET /account',
  'POST /account/disconnect',
  'POST /account/disconnect-all',
  'GET /account/history',
  'GET /account/security',
  'POST /account/sessions/end',
  'POST /account/sessions/end-others',
  'POST /account/stop',
  'POST /account/warnings',
  'GET /account/password',
  'POST /account/password',
  'GET /account/payment-password',
  'POST /account/payment-password',
  'POST /sign-out',
  'POST /language',
  'GET /brand/:name',
  'GET /logo/:name',
  'POST /oauth/token',
  'POST /oauth/introspect',
  'POST /oauth/revoke',
  'POST /api/revoke',
  'GET /.well-known/oauth-authorization-server',
  'GET /health/live',
  'GET /health/ready',
  'GET /metrics',
] as const;

export type Route = (typeof ROUTES)[number];
export type Samples = Readonly<Record<Route, Sample>>;

/** Whether it looks at a password, which is slow on purpose, and where a wrong one makes others wait. */
export const isSlow = (route: Route) => /^POST .*(sign-in|account\/.*password)$/.test(route);

/** A right request to each route, with every parameter that is read there. */
export async function prepareSamples(server: TestServer): Promise<Samples> {
  const client = await server.createClient();
  const user = await server.createUser();
  const agent = new Agent(server.baseUrl);
  return {
    ...(await samplesOfPrograms(server, agent, client, user)),
    ...(await samplesOfPeople(server, agent, client, user)),
    ...(await samplesOfOwners(server)),
  };
}

async function samplesOfPrograms(server: TestServer, agent: Agent, client: TestClient, user: TestUser) {
  const code = await obtainCode(agent, everythingAsked(client, 'code'), user);
  const exchange = tokenRequestOf(client, code, { code_verifier: VERIFIER });
  const { client_id = '', client_secret = '' } = exchange;
  const issue = (instance_name: string) => obtainToken(agent, client, user, { instance_name });
  const asks = { authorization: await server.createResource() };
  const holds = { authorization: `Bearer ${await issue('held')}` };
  const asked = await issue('asked');
  // The first introspection of a day is noted, after its answer: the sample's changes nothing any more.
  await introspect(server, asks.authorization, asked);
  await vi.waitFor(async () => expect(await isNotedAsUsed(server, client)).toBe(true));
  return {
    'POST /oauth/token': program(exchange, {}, /"access_token":/),
    'POST /oauth/introspect': program({ token: asked }, asks, /"active":true/),
    'POST /oauth/revoke': program({ token: await issue('revoked'), client_id, client_secret }),
    'POST /api/revoke': program({}, holds),
    'GET /.well-known/oauth-authorization-server': program(),
    'GET /health/live': program(),
    'GET /health/ready': program(),
    'GET /metrics': program(),
  };
}

async function isNotedAsUsed(server: TestServer, { clientId }: TestClient): Promise<boolean> {
  const { rowCount } = await server.database.pool.query(
    'select from grants where client_id = $1 and last_used_on is not null',
    [clientId],
  );
  return rowCount === 1;
}

async function samplesOfPeople(server: TestServer, agent: Agent, client: TestClient, user: TestUser) {
  const look = everythingAsked(client, 'look');
  const spend = { ...everythingAsked(client, 'spend'), scope: SPENDING };
  const consent = await reachConsent(agent, everythingAsked(client, 'consent'), user);
  const payment = await agent.get(`/oauth/authorize?${new URLSearchParams(spend)}`);
  const other = await server.createClient(); // so that disconnecting takes nothing from the samples of programs
  for (const instance_name of ['one', 'two'])
    await obtainCode(agent, requestOf(other, { instance_name }), user);
  const account = await agent.get('/account');
  const visitor = new Agent(server.baseUrl);
  const signIn = await visitor.get(`/oauth/authorize?${new URLSearchParams(look)}`);
  const typed = { login: user.login, password: user.password };
  const session = cookieOf(agent, 'assent_session');
  const visit = cookieOf(visitor, 'assent_visit');
  return {
    'GET /': person({}, 303),
    'GET /sign-in': person({}, 303),
    'GET /payment-password': person({}, 303),
    'GET /brand/:name': person({}, 404), // a picture of no such name; images.test.ts has those that are there
    'GET /logo/:name': person({}, 404),
    'GET /oauth/authorize': person(look, 200, session),
    'POST /oauth/authorize': person(look, 303, session),
    'POST /sign-in': form(signIn, '/sign-in', typed, 303, { ...visit, gives: /assent_session=[\w-]{43};/ }),
    'GET /reject': person(spend, 200, session),
    'POST /reject': form(payment, '/reject', {}, 303, { ...session, needs: [] }),
    'POST /payment-password': form(
      payment,
      '/payment-password',
      { payment_password: user.paymentPassword ?? '' },
      303,
      session,
    ),
    'POST /consent': withField(
      form(consent, '/consent', { decision: 'allow' }, 302, { ...session, gives: /[?&]code=/ }),
      { language: 'ru' },
    ),
    'GET /account': person({ ...LOOK_AT, undone: 'x', stopped: 'x' }, 200, {
      ...session,
      gives: /action="\/account\/disconnect"/,
      needs: ['header cookie'],
    }),
    'POST /account/disconnect': form(account, '/account/disconnect', {}, 303, {
      ...session,
      gives: /\?disconnected=/,
    }),
    'POST /account/disconnect-all': form(account, '/account/disconnect-all', {}, 303, {
      ...session,
      gives: /\?disconnected_all=/,
    }),
    'POST /sign-out': form(account, '/sign-out', {}, 303, { ...session, gives: /assent_session=;/ }),
    'POST /language': form(account, '/language', { language: 'ru' }, 303, {
      gives: /assent_language=ru;/,
      needs: [],
    }),
  };
}

/** The forms that change what a user is signed in with, each of a user of its own. */
async function samplesOfOwners(server: TestServer) {
  const sampleOf = async (page: string, action: string, typed: (user: TestUser) => Values) => {
    const user = await server.createUser();
    const agent = new Agent(server.baseUrl);
    for (const browser of [new Agent(server.baseUrl), agent])
      await signIn(browser, user.login, user.password);
    const kind = 'user_password_set';
    await server.database.pool.query('insert into audit_events (kind, user_id) values ($1, $2)', [
      kind,
      user.userId,
    ]);
    const gives = { gives: /said=(ended|changed)|stopped=everything|assent_seen=/ };
    const session = cookieOf(agent, 'assent_session');
    return form(await agent.get(page), action, typed(user), 303, { ...session, ...gives });
  };
  const seen = async (path: string, fields: Values = {}) => {
    const user = await server.createUser();
    const agent = new Agent(server.baseUrl);
    await signIn(agent, user.login, user.password);
    return { [`GET ${path}`]: person(fields, 200, cookieOf(agent, 'assent_session')) };
  };
  const change = (path: string, name: string, old: (user: TestUser) => string) =>
    sampleOf(path, path, (user) => ({ [name]: old(user), new_password: 'a new password' }));
  return {
    ...(await seen('/account/history', { from: 'x' })),
    ...(await seen('/account/security', { said: 'x' })),
    ...(await seen('/account/password')),
    ...(await seen('/account/payment-password')),
    'POST /account/sessions/end': await sampleOf('/account/security', '/account/sessions/end', () => ({})),
    'POST /account/sessions/end-others': await sampleOf(
      '/account/security',
      '/account/sessions/end-others',
      () => ({}),
    ),
    'POST /account/stop': await sampleOf('/account', '/account/stop', () => ({})),
    'POST /account/warnings': await sampleOf('/account', '/account/warnings', () => ({})),
    'POST /account/password': await change('/account/password', 'password', (user) => user.password),
    'POST /account/payment-password': await change(
      '/account/payment-password',
      'payment_password',
      (user) => user.paymentPassword ?? '',
    ),
  } as Record<Extract<Route, `${string} /account/${'h' | 's' | 'p' | 'w'}${string}`>, Sample>;
}

function everythingAsked(client: TestClient, instance_name: string): Record<string, string> {
  const challenge = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };
  return requestOf(client, { instance_name, state: 's t/a+t%e', ...challenge });
}

/** The one cookie that counts: others that the browser has are noise. */
function cookieOf(agent: Agent, name: string): { headers: Values } {
  return { headers: { cookie: `${name}=${agent.cookies.get(name)}` } };
}

function program(fields: Values = {}, headers: Values = {}, gives?: RegExp): Sample {
  const sample = { reader: 'program', fields, headers, status: 200, needs: allOf(fields, headers) } as const;
  return gives === undefined ? sample : { ...sample, gives };
}

function person(fields: Values, status: number, more: Partial<Sample> = {}): Sample {
  return { reader: 'person', fields, headers: {}, status, needs: [], ...more };
}

/** A form as the page has it, filled in. */
function form(page: Answer, action: string, typed: Values, status: number, more: Partial<Sample>): Sample {
  const found = page.forms.find((candidate) => candidate.action === action);
  if (found === undefined) throw new Error(`the page ${page.page} has no form for ${action}`);
  const fields = { ...found.fields, ...typed };
  return person(fields, status, { needs: allOf(fields, more.headers), ...more });
}

/** One that is read, and that the request can do without. */
function withField(sample: Sample, field: Values): Sample {
  return { ...sample, fields: { ...sample.fields, ...field } };
}

function allOf(fields: Values, headers: Values = {}): string[] {
  return [...Object.keys(fields), ...Object.keys(headers).map((name) => `header ${name}`)];
}

/** A first approval, as it is handed to the store. */
export function approvalOf(
  { clientId, redirectUri }: TestClient,
  { userId }: Pick<TestUser, 'userId'>,
): Approval {
  return {
    grantId: '00000000-0000-4000-8000-000000000001',
    userId,
    clientId,
    clientRevision: 1,
    instanceName: null,
    revision: 0,
    scope: 'account-info',
    askedScope: null,
    redirectUri,
    codeHash: sha256(''),
    codeLifetimeSeconds: 50,
    codeChallenge: null,
    sessionHash: sha256(''),
    requestDigest: sha256(''),
    formExpiresAt: new Date(Date.now() + CONSENT_FORM_MS),
    limits: '[]',
    maxInstances: 100,
    caller: CALLER,
  };
}
