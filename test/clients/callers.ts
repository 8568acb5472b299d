import { type Agent, type Answer, formWith } from '../support/agent.ts';
import type { TestUser } from '../support/server.ts';

// What all tests of clients share: who asks, and the user in front of the browser.

/** How an application says who it is. `none`: it is registered without verification, and has no secret. */
export type Authentication = 'client_secret_post' | 'client_secret_basic' | 'none';

/** Who asks; `secret` is empty for an application without one. */
export interface Caller {
  readonly id: string;
  readonly secret: string;
  readonly authentication: Authentication;
}

/** The credentials in an `Authorization` header. */
export function callerOf(authorization: string): Caller {
  const [id = '', secret = ''] = Buffer.from(authorization.slice('Basic '.length), 'base64')
    .toString()
    .split(':');
  return { id, secret, authentication: 'client_secret_basic' };
}

/** Opens an address like the user's browser and goes on up to the consent page, signing in where asked. */
export async function openConsent(agent: Agent, url: string, user: TestUser): Promise<Answer> {
  let answer = await agent.get(url);
  for (let steps = 0; steps < 8 && answer.page !== 'consent'; steps += 1) {
    if (answer.location !== null) answer = await agent.get(answer.location);
    else if (answer.page === 'sign-in') answer = await signIn(agent, answer, user);
    else answer = await confirmPayment(agent, answer, user);
  }
  formWith(answer, 'decision'); // says what the page is when it isn't the consent page
  return answer;
}

function signIn(agent: Agent, page: Answer, { login, password }: TestUser): Promise<Answer> {
  return agent.submit(page, 'login', { login, password });
}

function confirmPayment(agent: Agent, page: Answer, { paymentPassword }: TestUser): Promise<Answer> {
  return agent.submit(page, 'payment_password', { payment_password: paymentPassword ?? '' });
}

/** The user's whole part. @returns the address that the browser is sent back to */
export async function decideAt(
  agent: Agent,
  url: string,
  user: TestUser,
  decision: 'allow' | 'reject' = 'allow',
): Promise<URL> {
  const consent = await openConsent(agent, url, user);
  const { status, location } = await agent.submit(consent, 'decision', { decision });
  if (status !== 302 || location === null) throw new Error(`no redirect back, but ${status}`);
  return new URL(location);
}
