import type { Agent, Answer } from './http/agent.ts';
import type { TestClient, TestServer, TestUser } from './server.ts';

type Fields = Record<string, string>;

/** The fields of an authorization request that is right in every way and spends nothing. */
export function requestOf(client: TestClient, fields: Fields = {}): Fields {
  return {
    client_id: client.clientId,
    response_type: 'code',
    redirect_uri: client.redirectUri,
    scope: 'account-info operation-history',
    ...fields,
  };
}

/** The address of an authorization request, as an application or an attacker puts it into a link. */
export const linkTo = (fields: Fields) => `/oauth/authorize?${new URLSearchParams(fields)}`;

export function tokenRequestOf(client: TestClient, code: string, fields: Fields = {}): Fields {
  return {
    code,
    client_id: client.clientId,
    grant_type: 'authorization_code',
    redirect_uri: client.redirectUri,
    ...(client.clientSecret === null ? {} : { client_secret: client.clientSecret }),
    ...fields,
  };
}

/** Signs in on the way to the account page, which a right password leads to by a 303. */
export async function signIn(agent: Agent, login: string, password: string): Promise<Answer> {
  return agent.submit(await agent.get('/oauth/account'), 'login', { login, password });
}

/** The page that a form leads to, as a browser goes there; the answer itself if it leads nowhere. */
export async function pageAfter(agent: Agent, answer: Answer): Promise<Answer> {
  return answer.status === 303 ? agent.get(answer.location ?? '') : answer;
}

/** The outcome of a form with a password, by the page that it leads to; other statuses as numbers. */
export type Verdict = 'right' | 'wrong' | 'wait' | number;

export async function verdictOn(agent: Agent, answer: Answer): Promise<Verdict> {
  const { status, body } = await pageAfter(agent, answer);
  if (status === 429) return 'wait';
  if (status !== 200) return status;
  return body.includes('id="error"') ? 'wrong' : 'right';
}

export async function trySignIn(agent: Agent, login: string, password: string): Promise<Verdict> {
  return verdictOn(agent, await signIn(agent, login, password));
}

/** Sends a form with a password, again while too many passwords are being checked: the page asks for that, too. */
async function submitPassword(agent: Agent, page: Answer, name: string, fields: Fields): Promise<Answer> {
  let answer = await agent.submit(page, name, fields);
  for (let attempts = 1; answer.status === 503 && attempts < 5; attempts += 1) {
    answer = await agent.submit(page, name, fields);
  }
  return answer;
}

/** The user of each browser, for the confirmation after the consent page. */
const PEOPLE = new WeakMap<Agent, TestUser>();

/** Sends the request and walks over sign-in as `user`, up to the consent page. */
export async function reachConsent(agent: Agent, fields: Fields, user: TestUser): Promise<Answer> {
  return goOnToConsent(agent, await agent.post('/oauth/authorize', fields), user);
}

/** The same from an answer on, however the request was sent. */
export async function goOnToConsent(agent: Agent, from: Answer, user: TestUser): Promise<Answer> {
  let answer = from;
  PEOPLE.set(agent, user);
  for (let steps = 0; steps < 8 && answer.page !== 'consent'; steps += 1)
    answer = await nextPage(agent, answer, user);
  if (answer.page !== 'consent') {
    throw new Error(`no consent page: ${answer.status} ${answer.page} ${answer.text}`);
  }
  return answer;
}

function nextPage(agent: Agent, answer: Answer, user: TestUser): Promise<Answer> {
  if (answer.location !== null) return agent.get(answer.location);
  return submitPassword(agent, answer, 'login', { login: user.login, password: user.password });
}

/** Presses a button of the consent page, and confirms with the payment password where that is asked. @returns the last answer */
export async function decide(agent: Agent, consent: Answer, decision: 'allow' | 'reject'): Promise<Answer> {
  const answer = await press(agent, consent, decision);
  if (!leadsTo(answer, '/oauth/confirm')) return returnFrom(agent, answer);
  const { paymentPassword } = PEOPLE.get(agent) ?? {};
  return returnFrom(agent, await confirm(agent, await agent.get(answer.location ?? ''), paymentPassword));
}

export function press(agent: Agent, consent: Answer, decision: 'allow' | 'reject'): Promise<Answer> {
  return agent.submit(consent, 'decision', { decision });
}

export function confirm(agent: Agent, page: Answer, paymentPassword: string | null = ''): Promise<Answer> {
  return submitPassword(agent, page, 'payment_password', { payment_password: paymentPassword ?? '' });
}

/** Goes on from an answer that leads to a receipt, as its page does by itself, up to the answer that leads to the application. */
export async function returnFrom(agent: Agent, answer: Answer): Promise<Answer> {
  if (!leadsTo(answer, '/oauth/receipt')) return answer;
  const receipt = await agent.get(answer.location ?? '');
  const [, onward] = /^0; url=(.+)$/.exec(receipt.headers.get('refresh') ?? '') ?? [];
  return onward === undefined ? receipt : agent.get(onward);
}

export function leadsTo({ status, location }: Answer, path: string): boolean {
  return status === 303 && location !== null && new URL(location).pathname === path;
}

export async function obtainCode(agent: Agent, fields: Fields, user: TestUser): Promise<string> {
  const answer = await decide(agent, await reachConsent(agent, fields, user), 'allow');
  return codeOf(answer);
}

export function codeOf(answer: Answer): string {
  const code = answer.location === null ? null : new URL(answer.location).searchParams.get('code');
  if (code === null) throw new Error(`no code: ${answer.status} ${answer.location} ${answer.text}`);
  return code;
}

export async function obtainToken(
  agent: Agent,
  client: TestClient,
  user: TestUser,
  fields: Fields = {},
): Promise<string> {
  const code = await obtainCode(agent, requestOf(client, fields), user);
  const answer = await agent.post('/oauth/token', tokenRequestOf(client, code));
  const { access_token } = JSON.parse(answer.body) as { access_token?: string };
  if (access_token === undefined) throw new Error(`no token: ${answer.status} ${answer.body}`);
  return access_token;
}

export async function introspect(
  server: Pick<TestServer, 'baseUrl'>,
  authorization: string,
  token: string,
): Promise<Record<string, unknown>> {
  const response = await fetch(`${server.baseUrl}/oauth/introspect`, {
    method: 'POST',
    headers: { authorization },
    body: new URLSearchParams({ token }),
  });
  return (await response.json()) as Record<string, unknown>;
}
