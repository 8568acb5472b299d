import type { AuthorizationRequest } from '../rules/authorizationRequest.ts';
import { CONSENT_FORM_MS } from '../rules/lifetimes.ts';
import { bytesOf, sha256 } from '../secrets/digest.ts';
import { grantIdFor } from '../secrets/grantId.ts';
import { formatToken } from '../secrets/tokens.ts';
import { parseUuid } from '../secrets/uuid.ts';
import type { Session } from '../store/sessions.ts';
import type { Context } from './context.ts';

// The signed payload: session hash, user, grant, digest of the request, revisions shown of client and grant; then the expiry.
const REVISION_BYTES = 4;
const EXPIRY_BYTES = 8;

/** A decision on exactly what a consent page showed: this session, this request, this state of client and grant. */
export interface Decision {
  readonly grantId: string;
  /** The revision of the grant that the page showed; 0 when there was none. */
  readonly revision: number;
  /** The authorization code that allowing gives. The same page gives the same code, however often it is sent. */
  readonly code: string;
  /** By the database's clock. */
  readonly expiresAt: Date;
}

/** Why nothing was decided. */
export type Undecided =
  /** The form doesn't fit any more, or the session is over: the request is to be shown afresh. */
  | { readonly outcome: 'stale' }
  /** The user has decided more than anybody reads in that time. */
  | { readonly outcome: 'too many' };

/**
 * The token that a consent page carries in its form.
 *
 * @param revision the revision of the grant that the page shows; 0 for none
 */
export function printDecision(
  { keyRing }: Context,
  session: Session,
  request: AuthorizationRequest,
  revision: number,
): string {
  const expiry = Buffer.alloc(EXPIRY_BYTES);
  expiry.writeBigUInt64BE(BigInt(session.now.getTime() + CONSENT_FORM_MS));
  return keyRing.sign('decision', Buffer.concat([describeState(session, request, revision), expiry]));
}

/**
 * Reads the token of a form back.
 *
 * @returns undefined when it was not made by us for this session and this request, or is too old
 */
export function readDecision(
  { keyRing }: Context,
  token: string | undefined,
  session: Session,
  request: AuthorizationRequest,
): Decision | undefined {
  const signed = keyRing.verify('decision', token ?? '');
  if (signed === undefined) return undefined;
  const state = signed.payload.subarray(0, -EXPIRY_BYTES);
  const expiresAt = Number(signed.payload.readBigUInt64BE(state.length));
  const revision = state.readUInt32BE(state.length - REVISION_BYTES);
  if (!state.equals(describeState(session, request, revision))) return undefined;
  if (session.now.getTime() >= expiresAt) return undefined;
  const grantId = grantIdOf(session, request);
  // The code depends on everything that was decided, so no two decisions can share one.
  const secret = keyRing.codeSecret(signed.keyId, Buffer.concat([state, Buffer.from(request.scope)]));
  return { grantId, revision, code: formatToken('code', grantId, secret), expiresAt: new Date(expiresAt) };
}

/** The one grant that this user can give this application instance. */
export function grantIdOf(session: Session, request: AuthorizationRequest): string {
  return grantIdFor(session.user.userId, request.client.clientId, request.instanceName);
}

function describeState(session: Session, request: AuthorizationRequest, revision: number): Buffer {
  const shown = Buffer.alloc(2 * REVISION_BYTES);
  shown.writeUInt32BE(request.client.revision);
  shown.writeUInt32BE(revision, REVISION_BYTES);
  return Buffer.concat([
    bytesOf(session.sessionHash),
    parseUuid(session.user.userId),
    parseUuid(grantIdOf(session, request)),
    bytesOf(sha256(request.canonicalQuery)),
    shown,
  ]);
}
