import { inflateRawSync } from 'node:zlib';
import { hexOf, sha256 } from '../../src/secrets/digest.ts';
import { deriveGrantId, parseToken } from '../../src/secrets/tokens.ts';
import type { Answer } from '../support/http/agent.ts';
import type { Act, Asked, Entry } from './evidence.ts';

// Reads requests and answers on the wire: the journal is written from these alone.

type What = Omit<Asked, 'actor' | 'during'>;

const [KEY_ID_BYTES, HMAC_BYTES] = [4, 32];

const hashOf = (secret: string): string => hexOf(sha256(secret));

/** Says what a request asks. @param owners the owner of each grant, completed from decisions */
export function readRequest(
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
    case '/oauth/spend':
      return { ...ofBearer('pay', 'token'), body: hashOf(fields.toString()), payment: field('key') };
    case '/oauth/revoke':
      return ofBearer('revoke', 'token');
    case '/oauth/consent':
    case '/oauth/confirm':
    case '/oauth/return': {
      if (fields.size === 0) return { act: 'look', userId };
      const decision = decisionOn(fields, userId ?? '');
      owners.set(decision.key ?? '', decision);
      return decision;
    }
    case '/oauth/sign-in':
      return { act: 'signIn', userId };
    case '/oauth/account/disconnect':
      return { act: 'disconnect', userId, key: field('grant_id') };
    case '/oauth/account/disconnect-all':
      return { act: 'disconnectAll', userId, clientId: field('client_id') };
    case '/oauth/account/stop':
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
    key: deriveGrantId(userId, clientId, asked.get('instance_name')),
    userId,
    clientId,
    form: pageOf(fields.get('decision_token') ?? fields.get('decision') ?? ''),
  };
}

/** The page of a token: of its own, or the one that a signed decision was made on. */
function pageOf(token: string): string {
  const payload = Buffer.from(token, 'base64url').subarray(KEY_ID_BYTES, -HMAC_BYTES);
  if (payload[0] === '['.charCodeAt(0)) return hexOf(sha256(payload));
  const decision = inflateRawSync(payload).toString();
  return /^\["\w+",\d+,\d+,"\\\\x([0-9a-f]{64})"/.exec(decision)?.[1] ?? '';
}

type Reading = Pick<Entry, 'told' | 'code' | 'token' | 'active' | 'why'>;

const cookieOf = (json: string) => new RegExp(`assent_outcome=${Buffer.from(json).toString('base64url')}`);

/** The part of the address or of a cookie by which an answer says that the act is done. */
const DONE_AT: Partial<Record<Act, RegExp>> = {
  signIn: /assent_session=[\w-]/,
  approve: /code=|\/oauth\/receipt\?/,
  reject: /error=access_denied/,
  disconnect: cookieOf('["disconnected"'),
  disconnectAll: cookieOf('["disconnected"'),
  stop: cookieOf('["pressed'),
};

export function readOutcome(act: Act, answer: Answer): Reading {
  const { status, location, body } = answer;
  if (status === 503) return { told: 'unavailable' };
  if (['exchange', 'introspect', 'pay', 'revoke'].includes(act)) return readDocument(act, status, body);
  const isDone = DONE_AT[act]?.test(`${location} ${answer.headers.getSetCookie()}`) ?? status < 400;
  if (!isDone) return { told: 'refused', why: [status, answer.page ?? location?.split('?')[0]].join(' ') };
  const code = new URL(location ?? '', 'http://localhost').searchParams.get('code');
  return { told: 'done', code: code === null ? undefined : hashOf(code) };
}

function readDocument(act: Act, status: number, body: string): Reading {
  if (status !== 200) return { told: 'refused', why: /"error":"(\w+)"/.exec(body)?.[1] ?? String(status) };
  if (act === 'introspect') return { told: 'done', active: body.includes('"active":true') };
  if (act === 'pay') {
    const { active, verdict, reason: why = verdict } = JSON.parse(body);
    return { told: verdict === 'reserved' ? 'done' : 'refused', active, why };
  }
  const token = /"access_token":"([^"]+)"/.exec(body)?.[1];
  return token === undefined ? { told: 'done' } : { told: 'done', token: hashOf(token) };
}
