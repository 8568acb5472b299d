import { inflateRawSync } from 'node:zlib';
import { expect, vi } from 'vitest';
import type { Agent, Answer } from '../support/agent.ts';
import { rowsOf } from '../support/rows.ts';
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

/** Expects that the callback of a sign-in at a provider is refused: nothing is written, and its cookie is gone, but not another's. */
export async function expectRefused(
  server: TestServer,
  agent: Agent,
  callback: string,
  ruleId: string,
  rule = /./,
): Promise<Answer> {
  const before = await rowsOf(server.database);
  const kept = isOfAnother(server, agent, callback) ? namesOf(agent) : [];
  const answer = await agent.get(callback);
  expect([answer.status, answer.page]).toEqual([400, 'error']);
  expect(await logOf(server, answer)).toMatchObject({
    rule_id: ruleId,
    rule: expect.stringMatching(rule),
    path: '/sign-in/callback',
  });
  const set = answer.headers.getSetCookie().map((line) => line.split(';')[0] ?? '');
  const other = /^(?!(__Host-)?assent_sign_in(_\d)?=$)/;
  if (kept.length === 0) expect(set.filter((line) => other.test(line))).toEqual([]);
  expect(namesOf(agent)).toEqual(kept);
  expect(await rowsOf(server.database)).toBe(before);
  return answer;
}

const namesOf = ({ cookies }: Agent) => [...cookies.keys()].filter((name) => name.includes('sign_in'));

/** True if the browser's sign-in, which is not too old, has another state. */
function isOfAnother(server: TestServer, agent: Agent, callback: string): boolean {
  const states = new URL(callback, server.baseUrl).searchParams.getAll('state');
  try {
    const { state, at } = begunIn(server, agent);
    return Date.now() - at < 600_000 && !(states.length === 1 && states[0] === state);
  } catch {
    return false;
  }
}

/** The sign-in that a browser has begun, as in its cookie. */
export function begunIn(
  { context }: TestServer,
  { cookies }: Agent,
): Record<string, unknown> & { at: number } {
  const signed = context.keyRing.verify('provider', cookies.get('assent_sign_in') ?? '');
  return JSON.parse(inflateRawSync(signed?.payload ?? '').toString());
}

/** The rows of users with such a value. */
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
