import { hash } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import { expect, vi } from 'vitest';
import type { Agent, Answer } from '../support/http/agent.ts';
import { rowsOf } from '../support/postgres/rows.ts';
import type { TestServer } from '../support/server.ts';

/** The line of an answer in the log, which is written after it. */
export function logOf({ logLines }: TestServer, { headers }: Answer): Promise<Record<string, unknown>> {
  const reference = `"ref":"${headers.get('x-request-id')}"`;
  return vi.waitFor(() => {
    const line = logLines.find((text) => text.includes(reference) && text.includes('"msg":"request"'));
    if (line === undefined) throw new Error('the request is not in the log');
    return JSON.parse(line) as Record<string, unknown>;
  });
}

/** Expects that the callback of a provider's sign-in is refused: nothing is written, and only its own cookie changes. */
export async function expectRefused(
  server: TestServer,
  agent: Agent,
  callback: string,
  ruleId: string,
  rule = /./,
): Promise<Answer> {
  const [rows, cookies] = [await rowsOf(server.database), new Map(agent.cookies)];
  const own = signInCookie(callback);
  const answer = await agent.get(callback);
  expect([answer.status, answer.page]).toEqual([400, 'error']);
  expect(await logOf(server, answer)).toMatchObject({
    rule_id: ruleId,
    rule: expect.stringMatching(rule),
    path: '/oauth/sign-in/callback',
  });
  const kept = own !== null && /[?&]error=/.test(callback) ? '' : own;
  const others = (map: ReadonlyMap<string, string>) => [...map].filter(([name]) => name !== kept);
  expect(others(agent.cookies)).toEqual(others(cookies));
  if (kept && agent.cookies.get(kept) !== cookies.get(kept)) {
    const { nonce: _nonce, verifier: _verifier, ...begun } = begunIn(server, { cookies }, kept);
    const used = { ...begun, stage: 'used' };
    expect(begunIn(server, agent, kept)).toEqual(used);
  }
  expect(await rowsOf(server.database)).toBe(rows);
  return answer;
}

/** The name of a sign-in's cookie, by the address of its callback; null for no state, or two. */
export function signInCookie(callback: string): string | null {
  const states = new URL(callback, 'http://localhost').searchParams.getAll('state');
  const [state] = states.length === 1 ? states : [];
  return state === undefined ? null : `assent_sign_in_${hash('sha256', state).slice(0, 16)}`;
}

/** The content of a browser's sign-in cookie, by default of the latest. */
export function begunIn(
  { context }: TestServer,
  { cookies }: Pick<Agent, 'cookies'>,
  cookie = [...cookies.keys()].findLast((name) => name.startsWith('assent_sign_in_')) ?? '',
): Record<string, unknown> & { at: number } {
  const signed = context.keyRing.verify('provider', cookies.get(cookie) ?? '');
  return JSON.parse(inflateRawSync(signed?.payload ?? '').toString());
}

export async function usersWith(
  { database: { pool } }: TestServer,
  where: { readonly login: string } | { readonly external_id: string },
): Promise<Record<string, unknown>[]> {
  const [[column, value] = []] = Object.entries(where);
  const { rows } = await pool.query<{ user: Record<string, unknown> }>(
    'select to_jsonb(u) as user from users u where to_jsonb(u) ->> $1 = $2',
    [column, value],
  );
  return rows.map(({ user }) => user);
}
