import { decide, goOnToConsent } from '../support/flow.ts';
import type { Agent } from '../support/http/agent.ts';
import type { TestUser } from '../support/server.ts';

/** An application or a resource server; `secret` is empty for an application without one. */
export interface Caller {
  readonly id: string;
  readonly secret: string;
  /** `none`: it is registered without verification, and has no secret. */
  readonly authentication: 'client_secret_post' | 'client_secret_basic' | 'none';
}

export function callerOf(authorization: string): Caller {
  const [id = '', secret = ''] = Buffer.from(authorization.slice('Basic '.length), 'base64')
    .toString()
    .split(':');
  return { id, secret, authentication: 'client_secret_basic' };
}

/** Does the user's whole part, from the address of the application's request on. @returns the address that the browser is sent back to */
export async function decideAt(
  agent: Agent,
  url: string,
  user: TestUser,
  decision: 'allow' | 'reject' = 'allow',
): Promise<URL> {
  const consent = await goOnToConsent(agent, await agent.get(url), user);
  const { status, location } = await decide(agent, consent, decision);
  if (status !== 302 || location === null) throw new Error(`no redirect back, but ${status}`);
  return new URL(location);
}
