import { linkTo, requestOf } from '../support/flow.ts';
import type { Agent, Answer } from '../support/http/agent.ts';
import type { TestClient, TestUser } from '../support/server.ts';

type Fields = Record<string, string>;

export function open(browser: Agent, client: TestClient, fields: Fields = {}): Promise<Answer> {
  return browser.get(linkTo(requestOf(client, fields)));
}

export const sessionOf = (browser: Agent) => browser.cookies.get('assent_session');

/** Signs in by the form of a page, even if another user is signed in. */
export function signIn(browser: Agent, page: Answer, { login, password }: TestUser): Promise<Answer> {
  return browser.submit(page, 'login', { login, password });
}
