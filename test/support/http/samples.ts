import { expect, vi } from 'vitest';
import { s256, sha256 } from '../../../src/secrets/digest.ts';
import type { Approval } from '../../../src/store/authorize/approvals.ts';
import { fieldsFor, signedIn } from '../account.ts';
import {
  confirm,
  introspect,
  linkTo,
  obtainCode,
  obtainToken,
  press,
  reachConsent,
  requestOf,
  tokenRequestOf,
} from '../flow.ts';
import { newSecret } from '../ledger.ts';
import { CALLER, type TestClient, type TestServer, type TestUser } from '../server.ts';
import { Agent, type Answer } from './agent.ts';

type Values = Readonly<Record<string, string>>;

export interface Sample {
  /** Programs are answered in JSON, people with pages. */
  readonly reader: 'program' | 'person';
  /** Its parameters: in the body of a POST, in the query otherwise. */
  readonly fields: Values;
  readonly headers: Values;
  readonly status: number;
  /** In the headers or the body of an answer, only if the request is valid in all that it `needs`. */
  readonly gives?: RegExp;
  /** Fields, and headers as `header cookie`, that must not change. */
  readonly needs: readonly string[];
}

/** The answer's cookie remembers it, as JSON in base64url. */
const ofDisconnecting = (field: string) => ({
  gives: new RegExp(`assent_outcome=${Buffer.from('["disconnected"').toString('base64url')}`),
  needs: [field, 'form_token', 'header cookie'],
});
const VERIFIER = newSecret();
const SPENDING = 'payment-shop.limit(7,5000) money-source("wallet")';
const OF_DECISION = { needs: ['decision', 'header cookie'] };

/** A valid request to every route, with each parameter that is read there. In this order none spoils another. */
const SAMPLES = {
  'GET /': () => person({}, 303),
  'GET /oauth/authorize': ({ look, session }) => person(look, 200, session),
  'POST /oauth/authorize': ({ look, session }) => person(look, 303, session),
  'POST /oauth/sign-in': ({ user: { login, password }, signIn, visit }) =>
    form(signIn, '/oauth/sign-in', { login, password }, { ...visit, gives: /assent_session=[\w-]{43};/ }),
  'POST /oauth/consent': ({ consent, session }) => {
    const more = { ...session, status: 302, gives: /[?&]code=/ };
    const sample = form(consent, '/oauth/consent', { decision: 'allow' }, more);
    return { ...sample, fields: { ...sample.fields, language: 'ru' } }; // it is read, and not needed
  },
  'GET /oauth/confirm': ({ confirm, session }) =>
    person(queryOf(confirm), 200, { ...session, ...OF_DECISION, gives: /name="payment_password"/ }),
  'POST /oauth/confirm': ({ user: { paymentPassword }, confirmPage, session }) => {
    const gives = /location: \S+\/oauth\/receipt\?/;
    return form(
      confirmPage,
      '/oauth/confirm',
      { payment_password: paymentPassword ?? '' },
      { ...session, gives },
    );
  },
  'GET /oauth/receipt': ({ receipt, session }) =>
    person(queryOf(receipt), 200, { ...session, ...OF_DECISION, gives: /refresh: 0; url=\/oauth\/return/ }),
  'GET /oauth/return': ({ receipt, session }) =>
    person(queryOf(receipt), 302, { ...session, ...OF_DECISION, gives: /[?&]code=/ }),
  'GET /oauth/account': ({ look, session }) =>
    person({ older: 'x', application: look.client_id ?? '', search: 'x' }, 200, {
      ...session,
      gives: /action="\/oauth\/account\/disconnect"/,
      needs: ['header cookie'],
    }),
  'POST /oauth/account/disconnect': ({ account, session }) =>
    form(account, '/oauth/account/disconnect', {}, { ...session, ...ofDisconnecting('grant_id') }),
  'POST /oauth/account/disconnect-all': ({ account, session }) =>
    form(account, '/oauth/account/disconnect-all', {}, { ...session, ...ofDisconnecting('client_id') }),
  'GET /oauth/account/history': (stage) => ownPage(stage, { from: 'x' }),
  // The receipt of no such number; receipt.test.ts has those that are there.
  'GET /oauth/account/history/:number': ({ session }) => person({}, 404, session),
  'GET /oauth/account/security': (stage) => ownPage(stage),
  'POST /oauth/account/sessions/end': (stage, path) => ownForm(stage, path, '/oauth/account/security'),
  'GET /oauth/account/stop': (stage) => ownPage(stage),
  'GET /oauth/account/secure': (stage) => ownPage(stage),
  'POST /oauth/account/stop': ownForm,
  'POST /oauth/account/warnings': (stage, path) => ownForm(stage, path, '/oauth/account'),
  'GET /oauth/account/password': (stage) => ownPage(stage),
  'POST /oauth/account/password': ownForm,
  'GET /oauth/account/payment-password': (stage) => ownPage(stage),
  'POST /oauth/account/payment-password': ownForm,
  'POST /oauth/sign-out': ({ account, session }) =>
    form(account, '/oauth/sign-out', {}, { ...session, gives: /assent_session=;/ }),
  'POST /oauth/language': ({ account }) =>
    form(account, '/oauth/language', { language: 'ru' }, { gives: /assent_language=ru;/, needs: [] }),
  'GET /oauth/brand/:name': () => person({}, 404), // a picture of no such name; images.test.ts has those that are there
  'GET /oauth/logo/:name': () => person({}, 404),
  'POST /oauth/token': ({ exchange }) => program(exchange, {}, { gives: /"access_token":/ }),
  'POST /oauth/introspect': ({ asked: token, asks }) => program({ token }, asks, { gives: /"active":true/ }),
  'POST /oauth/revoke': async ({ exchange: { client_id = '', client_secret = '' }, issue }) =>
    program({ token: await issue('revoked'), client_id, client_secret }),
  'POST /api/revoke': async ({ issue }) => program({}, { authorization: `Bearer ${await issue('held')}` }),
  'GET /.well-known/oauth-authorization-server': () => program(),
  'GET /health/live': () => program(),
  'GET /health/ready': () => program(),
  'GET /metrics': () => program(),
} satisfies Record<string, (stage: Stage, path: string) => Sample | Promise<Sample>>;

export type Route = keyof typeof SAMPLES;
export type Samples = Readonly<Record<Route, Sample>>;

/** Every route; what `GET` answers, `HEAD` answers too. */
export const ROUTES = Object.keys(SAMPLES) as Route[];

/** Whether it checks a password, which is slow on purpose; a wrong one makes others wait. */
export const isSlow = (route: Route) => /^POST .*(sign-in|confirm|account\/.*password)$/.test(route);

export async function prepareSamples(server: TestServer): Promise<Samples> {
  const stage = await setStage(server);
  const samples: [string, Sample][] = [];
  for (const route of ROUTES) samples.push([route, await SAMPLES[route](stage, route.replace('POST ', ''))]);
  return Object.fromEntries(samples) as Samples;
}

type Stage = Awaited<ReturnType<typeof setStage>>;

async function setStage(server: TestServer) {
  const [client, user] = [await server.createClient(), await server.createUser()];
  const [agent, visitor] = [new Agent(server.baseUrl), new Agent(server.baseUrl)];
  const issue = (instance_name: string) => obtainToken(agent, client, user, { instance_name });
  const code = await obtainCode(agent, everythingAsked(client, 'code'), user);
  const asks = { authorization: await server.createResource() };
  const asked = await issue('asked');
  // The first introspection of a day is noted, after its answer: the sample's changes nothing any more.
  await introspect(server, asks.authorization, asked);
  const noted = 'select from grants where client_id = $1 and last_used_on is not null';
  const { pool } = server.database;
  await vi.waitFor(async () => expect((await pool.query(noted, [client.clientId])).rowCount).toBe(1));

  const look = everythingAsked(client, 'look');
  const consent = await reachConsent(agent, everythingAsked(client, 'consent'), user);
  const other = await server.createClient(); // so that disconnecting takes nothing from the samples of programs
  const toConfirm = async (of: TestClient, instance: string) => {
    const page = await reachConsent(agent, { ...everythingAsked(of, instance), scope: SPENDING }, user);
    return (await press(agent, page, 'allow')).location ?? '';
  };
  const confirmAt = await toConfirm(client, 'confirm');
  const toPay = await toConfirm(other, 'paid');
  const receipt = await confirm(agent, await agent.get(toPay), user.paymentPassword);
  for (const instance_name of ['one', 'two'])
    await obtainCode(agent, requestOf(other, { instance_name }), user);
  return {
    server,
    user,
    issue,
    exchange: tokenRequestOf(client, code, { code_verifier: VERIFIER }),
    asks,
    asked,
    look,
    consent,
    confirm: confirmAt,
    confirmPage: await agent.get(confirmAt),
    receipt: receipt.location,
    account: await agent.get('/oauth/account'),
    session: cookieOf(agent, 'assent_session'),
    signIn: await visitor.get(linkTo(look)),
    visit: cookieOf(visitor, 'assent_visit'),
  };
}

async function ownPage({ server }: Stage, fields: Values = {}): Promise<Sample> {
  return person(fields, 200, cookieOf(await signedIn(server, await server.createUser()), 'assent_session'));
}

/** The form that posts to `path` on the page `at`, of a user of its own who has a warning and another session. */
async function ownForm({ server }: Stage, path: string, at = path): Promise<Sample> {
  const user = await server.createUser();
  const [, agent] = [await signedIn(server, user), await signedIn(server, user)];
  const warn = `insert into audit_events (kind, user_id) values ('user_password_set', $1)`;
  await server.database.pool.query(warn, [user.userId]);
  // The outcome cookie: JSON in base64url, of which three bytes at a time stay the same.
  const outcomes = ['["ende', '["changed', '["pressed'].map((text) =>
    Buffer.from(text).toString('base64url'),
  );
  const gives = new RegExp(`assent_outcome=(${outcomes.join('|')})|assent_seen=`);
  const session = cookieOf(agent, 'assent_session');
  const page = await agent.get(at);
  const { inputs = [] } = page.forms.find(({ action }) => action === path) ?? {};
  const passwords = { password: user.password, payment_password: user.paymentPassword ?? '' };
  const typed = Object.entries({ ...passwords, new_password: newSecret() });
  const asked = Object.fromEntries(typed.filter(([name]) => inputs.includes(name)));
  return form(page, path, asked, { ...session, gives });
}

function everythingAsked(client: TestClient, instance_name: string): Record<string, string> {
  const challenge = { code_challenge: s256(VERIFIER), code_challenge_method: 'S256' };
  return requestOf(client, { instance_name, state: 's t/a+t%e', ui_locales: 'en', ...challenge });
}

/** The one cookie that matters, without the browser's others. */
function cookieOf(agent: Agent, name: string): { headers: Values } {
  return { headers: { cookie: `${name}=${agent.cookies.get(name)}` } };
}

function program(fields: Values = {}, headers: Values = {}, more: Partial<Sample> = {}): Sample {
  return { reader: 'program', fields, headers, status: 200, needs: allOf(fields, headers), ...more };
}

function person(fields: Values, status: number, more: Partial<Sample> = {}): Sample {
  return { reader: 'person', fields, headers: {}, status, needs: [], ...more };
}

function queryOf(location: string | null): Values {
  return Object.fromEntries(new URL(location ?? '').searchParams);
}

function form(page: Answer, action: string, typed: Values, more: Partial<Sample>): Sample {
  const fields = { ...fieldsFor(page, action), ...typed };
  return person(fields, 303, { needs: allOf(fields, more.headers), ...more });
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
    page: sha256('page'),
    limits: '[]',
    maxInstances: 100,
    confirmsPayments: false,
    proof: null,
    ...CALLER,
  };
}
