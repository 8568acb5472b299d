import type { FastifyReply, FastifyRequest } from 'fastify';
import { highestRole } from '../../rules/account/adminRoles.ts';
import type { FileOperator } from '../../rules/account/operatorsFile.ts';
import { PROVIDER_SIGN_IN_MS } from '../../rules/common/lifetimes.ts';
import { isLoopback } from '../../rules/common/network.ts';
import { type Digest, sha256 } from '../../secrets/digest.ts';
import { randomSecret } from '../../secrets/random.ts';
import type { Database } from '../../store/database/database.ts';
import {
  deleteOperatorSession,
  findOperatorSession,
  insertOperatorSession,
  type SessionOwner,
} from '../../store/operate/operatorSessions.ts';
import type { AdminApi } from '../server.ts';
import { orNull } from './asking.ts';
import { claimSourceOf, type OperatorSignIn } from './providerSignIn.ts';

const COOKIE = 'assent_support';
/** Browsers accept it over https only. Other hosts of the domain can't set it. */
const HOST_COOKIE = `__Host-${COOKIE}`;

/** A whole page of ours sent the form: by `Sec-Fetch-Site`, which browsers send over https and at localhost, else by `Origin`. */
export function isOwnForm({ headers }: FastifyRequest): boolean {
  const { 'sec-fetch-site': site, origin, host } = headers;
  if (site !== undefined) return site === 'same-origin';
  return origin === undefined || origin.replace(/^https?:\/\//, '') === host;
}

/** A token that crosses a network without TLS can be read there. */
export function isExposed({ headers, hostname }: FastifyRequest): boolean {
  return headers.origin?.startsWith('http:') === true && !isLoopback(hostname);
}

/** A signed-in operator. `now`: the database's clock, for the lifetimes of forms. */
export type SignedIn = FileOperator & { readonly sessionHash: Digest; readonly now: Date };

/** The operator of the cookie's session; null if it has ended, or its token, or what gave its role. */
export async function findSignedIn(
  { db, findOperator, requireOwnName }: AdminApi,
  signIn: OperatorSignIn | null,
  request: FastifyRequest,
): Promise<SignedIn | null> {
  const sent = cookieOf(request);
  const sessionHash = sha256(sent ?? '');
  const session = sent === null ? null : await findOperatorSession(db, { sessionHash });
  if (session === null) return null;
  const { tokenHash, operator: name, given, source, expiresAt, now } = session;
  if (tokenHash !== null) {
    const operator = await findOperator(tokenHash);
    return operator?.status === 'active' ? { ...operator, sessionHash, now } : null;
  }
  const role = signIn && source === claimSourceOf(signIn) ? highestRole(signIn.roles, given ?? []) : null;
  if (name === null || role === null) return null;
  return orNull(requireOwnName(name).then(() => ({ name, role, expiresAt, sessionHash, now })));
}

/** Always with a new cookie (session fixation); the browser's earlier session ends. @param isPlain over http, on this machine */
export async function openOperatorSession(
  db: Database,
  owner: Partial<SessionOwner>,
  until: Date | null,
  reply: FastifyReply,
  isPlain: boolean,
) {
  await endSession(db, reply.request);
  const value = randomSecret().toString('base64url');
  const absent = { tokenHash: null, operator: null, source: null, given: null };
  await insertOperatorSession(db, { sessionHash: sha256(value), ...absent, ...owner, until });
  reply.header(
    'set-cookie',
    isPlain ? `${COOKIE}=${value}; ${OPTIONS}` : `${HOST_COOKIE}=${value}; ${SECURE}`,
  );
}

export async function closeSession(db: Database, reply: FastifyReply): Promise<void> {
  await endSession(db, reply.request);
  const gone = [`${COOKIE}=; ${OPTIONS}`, `${HOST_COOKIE}=; ${SECURE}`];
  reply.header(
    'set-cookie',
    gone.map((cookie) => `${cookie}; Max-Age=0`),
  );
}

const OPTIONS = 'Path=/; HttpOnly; SameSite=Strict';
const SECURE = `${OPTIONS}; Secure`;

async function endSession(db: Database, request: FastifyRequest): Promise<void> {
  const sent = cookieOf(request);
  if (sent !== null) await deleteOperatorSession(db, { sessionHash: sha256(sent) });
}

/** The cookie that anything on this host may set counts on this machine only. @param kind empty for the session's */
function cookieOf({ headers, hostname }: FastifyRequest, kind = ''): string | null {
  const named = (name: string) =>
    new RegExp(`(?:^|; *)${name}${kind}=([^;]+)`).exec(headers.cookie ?? '')?.[1];
  return named(HOST_COOKIE) ?? (isLoopback(hostname) ? named(COOKIE) : null) ?? null;
}

const SIGN_IN = '_sign_in';

export const signInCookieOf = (request: FastifyRequest) => cookieOf(request, SIGN_IN);

/** Of a sign-in at a provider: the answer comes from another site. */
export function setSignInCookie(reply: FastifyReply, value: string): void {
  const [name, options] = isLoopback(reply.request.hostname) ? [COOKIE, OPTIONS] : [HOST_COOKIE, SECURE];
  const lasting = `${options.replace('Strict', 'Lax')}; Max-Age=${PROVIDER_SIGN_IN_MS / 1000}`;
  reply.header('set-cookie', `${name}${SIGN_IN}=${value}; ${lasting}`);
}
