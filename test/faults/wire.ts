import { hexOf, sha256 } from '../../src/secrets/digest.ts';
import { grantIdFor } from '../../src/secrets/grantId.ts';
import { parseToken } from '../../src/secrets/tokens.ts';
import type { Answer } from '../support/agent.ts';
import type { Act, Asked, Told } from './journal.ts';

// What a request on the wire asks, and what an answer tells: the journal is written from these alone.

/** A request as it leaves a browser or an application. */
export interface Request {
  readonly path: string;
  readonly fields: URLSearchParams;
  /** Whose browser it is; null for an application or a resource server. */
  readonly userId: string | null;
}

type What = Omit<Asked, 'actor' | 'during'>;

export const hashOf = (secret: string): string => hexOf(sha256(secret));

/** What is asked of a grant by the code or token that names it. @param owners who has which grant */
function ofBearer(kind: 'code' | 'token', bearer: string, owners: ReadonlyMap<string, What>) {
  const key = parseToken(kind, bearer).grantId ?? undefined;
  return { ...(key === undefined ? {} : { key, ...ownerOf(owners.get(key)) }), [kind]: hashOf(bearer) };
}

const ownerOf = ({ userId, clientId }: Partial<What> = {}) => ({
  ...(userId === undefined ? {} : { userId }),
  ...(clientId === undefined ? {} : { clientId }),
});

/** The decision on a consent page: its form has the whole request. */
function decisionOn(fields: URLSearchParams, userId: string): What {
  const asked = new URLSearchParams(fields.get('request') ?? '');
  const clientId = asked.get('client_id') ?? '';
  return {
    act: fields.get('decision') === 'allow' ? 'approve' : 'reject',
    key: grantIdFor(userId, clientId, asked.get('instance_name')),
    userId,
    clientId,
    form: hashOf(fields.get('decision_token') ?? ''),
  };
}

/** Says what a request asks. Keeps in `owners` whose grant is whose, as decisions tell it. */
export function whatIsAsked({ path, fields, userId }: Request, owners: Map<string, What>): What {
  const field = (name: string) => fields.get(name) ?? '';
  if (path === '/oauth/token') {
    return { act: 'exchange', ...ofBearer('code', field('code'), owners), body: hashOf(fields.toString()) };
  }
  if (path === '/oauth/introspect')
    return { act: 'introspect', ...ofBearer('token', field('token'), owners) };
  if (path === '/oauth/revoke') return { act: 'revoke', ...ofBearer('token', field('token'), owners) };
  if (userId === null) return { act: 'look' };
  const ofUser = (act: Act, more: Partial<What> = {}): What => ({ act, userId, ...more });
  switch (path) {
    case '/consent': {
      const decision = decisionOn(fields, userId);
      owners.set(decision.key ?? '', decision);
      return decision;
    }
    case '/sign-in':
      return ofUser('signIn');
    case '/account/disconnect':
      return ofUser('disconnect', { key: field('grant_id') });
    case '/account/disconnect-all':
      return ofUser('disconnectAll', { clientId: field('client_id') });
    case '/account/stop':
      return ofUser('stop');
    default:
      return ofUser('look');
  }
}

interface Reading {
  readonly told: Told;
  readonly code?: string;
  readonly token?: string;
  readonly active?: boolean;
  readonly why?: string;
}

/** By which part of the address an answer leads on when the act is done. */
const DONE_AT: Partial<Record<Act, string>> = {
  approve: 'code=',
  reject: 'error=access_denied',
  disconnect: 'disconnected=',
  disconnectAll: 'disconnected_all=',
  stop: 'stopped=everything',
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
  if (!location?.includes(sign)) return { told: 'refused', why };
  const code = act === 'approve' ? new URL(location).searchParams.get('code') : null;
  return { told: 'done', ...(code === null ? {} : { code: hashOf(code) }) };
}

function readDocument(act: Act, status: number, body: string): Reading {
  const document = parse(body);
  const why = String(document.error ?? status);
  if (status !== 200) return { told: 'refused', why };
  if (act === 'exchange') return { told: 'done', token: hashOf(String(document.access_token)) };
  return act === 'introspect' ? { told: 'done', active: document.active === true } : { told: 'done' };
}

function parse(body: string): Record<string, unknown> {
  try {
    return JSON.parse(body) as Record<string, unknown>;
  } catch {
    return { error: `no JSON: ${body.slice(0, 80)}` };
  }
}
