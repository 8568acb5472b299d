import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FileOperator } from '../../rules/account/operatorsFile.ts';
import { isLoopback } from '../../rules/common/network.ts';
import { type Digest, sha256 } from '../../secrets/digest.ts';
import { randomSecret } from '../../secrets/random.ts';
import type { Database } from '../../store/database/database.ts';
import {
  deleteOperatorSession,
  findOperatorSession,
  insertOperatorSession,
} from '../../store/operate/operatorSessions.ts';
import type { AdminApi } from '../server.ts';

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

/** The operator of the cookie's session; null if it or its token has ended. */
export async function findSignedIn(
  { db, findOperator }: AdminApi,
  request: FastifyRequest,
): Promise<SignedIn | null> {
  const sent = cookieOf(request);
  const sessionHash = sha256(sent ?? '');
  const session = sent === null ? null : await findOperatorSession(db, { sessionHash });
  const operator = session && (await findOperator(`\\x${session.tokenHex}`));
  return operator?.status === 'active' && session ? { ...operator, sessionHash, now: session.now } : null;
}

/** Always with a new cookie (session fixation); the browser's earlier session ends. */
export async function openOperatorSession(
  db: Database,
  token: string,
  until: Date | null,
  reply: FastifyReply,
) {
  const { request } = reply;
  await endSession(db, request);
  const value = randomSecret().toString('base64url');
  await insertOperatorSession(db, { sessionHash: sha256(value), tokenHash: sha256(token), until });
  const isPlain = request.headers.origin?.startsWith('http:');
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

/** The cookie that anything on this host may set counts on this machine only. */
function cookieOf({ headers, hostname }: FastifyRequest): string | null {
  const named = (name: string) => new RegExp(`(?:^|; *)${name}=([^;]+)`).exec(headers.cookie ?? '')?.[1];
  return named(HOST_COOKIE) ?? (isLoopback(hostname) ? named(COOKIE) : null) ?? null;
}
