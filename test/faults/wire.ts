import { hexOf, sha256 } from '../../src/secrets/digest.ts';
import { grantIdFor, parseToken } from '../../src/secrets/tokens.ts';
import type { Answer } from '../support/http/agent.ts';
import type { Act, Asked, Entry } from './journal.ts';

// What a request on the wire asks, and what an answer tells: the journal is written from these alone.

type What = Omit<Asked, 'actor' | 'during'>;

const [KEY_ID_BYTES, HMAC_BYTES] = [4, 32];

export const hashOf = (secret: string): string => hexOf(sha256(secret));

/** Says what a request asks. Keeps in `owners` whose grant is whose, as decisions tell it. */
export function whatIsAsked(
  path: string,
  fields: URLSearchParams,
  userId: string | undefined,
  owners: Map<string, What>,
): What {
  const field = (name: string) => fields.get(name) ?? '';
  const ofBearer = (act: Act, kind: 'code' | 'token'): What => {
    const key = parseToken(kind, field(kind)).grantId ?? undefined;
    const { userId, clientId } = owners.get(key ?? '') ?? {};
    return { act, key, userId, clientId, [kind]: hashOf(field(kind)) };
  };
  switch (path) {
    case '/oauth/token':
      return { ...ofBearer('exchange', 'code'), body: hashOf(fields.toString()) };
    case '/oauth/introspect':
      return ofBearer('introspect', 'token');
    case '/oauth/revoke':
      return ofBearer('revoke', 'token');
    case '/consent':
    case '/confirm':
    case '/return': {
      if (fields.size === 0) return { act: 'look', userId };
      const decision = decisionOn(fields, userId ?? '');
      owners.set(decision.key ?? '', decision);
      return decision;
    }
    case '/sign-in':
      return { act: 'signIn', userId };
    case '/account/disconnect':
      return { act: 'disconnect', userId, key: field('grant_id') };
    case '/account/disconnect-all':
      return { act: 'disconnectAll', userId, clientId: field('client_id') };
    case '/account/stop':
      return { act: 'stop', userId };
    default:
      return { act: 'look', userId };
  }
}

/** The decision on a consent page, its confirmation, or the way back: each has the whole request, and its page. */
function decisionOn(fields: URLSearchParams, userId: string): What {
  const asked = fields.has('client_id') ? fields : new URLSearchParams(fields.get('request') ?? '');
  const clientId = asked.get('client_id') ?? '';
  return {
    act: fields.get('decision') === 'reject' ? 'reject' : 'approve',
    key: grantIdFor(userId, clientId, asked.get('instance_name')),
    userId,
    clientId,
    form: pageOf(fields.get('decision_token') ?? fields.get('decision') ?? ''),
  };
}

/** The page of a token: of its own, or the one that a signed decision was made on. */
function pageOf(token: string): string {
  const payload = Buffer.from(token, 'base64url').subarray(KEY_ID_BYTES, -HMAC_BYTES);
  const page = /^\["\w+",\d+,\d+,"\\\\x([0-9a-f]{64})"/.exec(payload.toString())?.[1];
  return page ?? hexOf(sha256(payload));
}

type Reading = Pick<Entry, 'told' | 'code' | 'token' | 'active' | 'why'>;

/** The beginnings of cookies that remember an outcome: JSON in base64url. */
const DISCONNECTED = Buffer.from('["disconnected"').toString('base64url');
const STOPPED = Buffer.from('["pressed').toString('base64url');

/** By which part of its address or cookie an answer says that the act is done. */
const DONE_AT: Partial<Record<Act, string>> = {
  approve: 'code=',
  reject: 'error=access_denied',
  disconnect: DISCONNECTED,
  disconnectAll: DISCONNECTED,
  stop: STOPPED,
};

export function whatIsTold(act: Act, answer: Answer): Reading {
  const { status, location, body } = answer;
  if (status === 503) return { told: 'unavailable' };
  if (act === 'exchange' || act === 'introspect' || act === 'revoke') return readDocument(act, status, body);
  const why = `${status} ${answer.page ?? location?.replace(/\?.*/, '') ?? ''}`;
  if (act === 'signIn') {
    const isIn = answer.headers.getSetCookie().some((cookie) => /assent_session=[\w-]/.test(cookie));
    return { told: isIn ? 'done' : 'refused', why };
  }
  const sign = DONE_AT[act];
  if (sign === undefined) return { told: status < 400 ? 'done' : 'refused', why };
  if (act === 'approve' && location?.includes('/receipt?')) return { told: 'done' };
  if (!`${location} ${answer.headers.getSetCookie()}`.includes(sign)) return { told: 'refused', why };
  const code = new URL(location ?? '', 'http://localhost').searchParams.get('code');
  return { told: 'done', code: code === null ? undefined : hashOf(code) };
}

function readDocument(act: Act, status: number, body: string): Reading {
  const document = parse(body);
  if (status !== 200) return { told: 'refused', why: String(document.error ?? status) };
  if (act === 'exchange') return { told: 'done', token: hashOf(String(document.access_token)) };
  return act === 'introspect' ? { told: 'done', active: document.active === true } : { told: 'done' };
}

function parse(body: string): Record<string, unknown> {
  try {
    return JSON.parse(body);
  } catch {
    return { error: `no JSON: ${body.slice(0, 80)}` };
  }
}
