import { tokenExpiresAt } from '../rules/lifetimes.ts';
import { isUuid } from '../secrets/uuid.ts';
import {
  type AccountGrant,
  areGrantsRevoked,
  type Cursor,
  countAccountGrants,
  findAccountGrants,
  isGrantRevoked,
} from '../store/accountGrants.ts';
import type { Caller } from '../store/auditEvents.ts';
import { countDecision } from '../store/decisions.ts';
import { revokeGrantOfUser, revokeGrantsOfUserAndClient } from '../store/revocations.ts';
import type { Session } from '../store/sessions.ts';
import type { Context } from './context.ts';
import { rightsOf } from './grantRights.ts';
import { signOutToken } from './session.ts';
import { type Form, signForm, verifyForm } from './signedForm.ts';

/** Authorizations on one page, and bytes of their scopes, whichever is less. */
const MAX_SHOWN = 20;
const MAX_SCOPE = 16_000;

/** A page of what can act on the user's account, newest first, with the tokens of its forms. */
export interface AuthorizationsPage {
  readonly user: Pick<Session['user'], 'name' | 'login'>;
  readonly signOutToken: string;
  readonly authorizations: readonly LiveAuthorization[];
  /** The applications on this page that have more than one authorization, on whichever page. */
  readonly several: readonly AuthorizedClient[];
  /** Where the pages of the newer and of the older ones begin; null where there are none. */
  readonly newer: Cursor | null;
  readonly older: Cursor | null;
}

/** One live authorization. */
export type LiveAuthorization = ReturnType<typeof authorizationOf>;

/** An application and how many live authorizations it has; `orMore` when only the newest were counted. */
export interface AuthorizedClient {
  readonly clientId: string;
  readonly clientName: string;
  readonly live: number;
  readonly orMore: boolean;
  readonly disconnectAllToken: string;
}

/** One page of the user's authorizations. It reads little more than that, however many there are. */
export async function findAuthorizationsPage(
  context: Context,
  session: Session,
  cursor: Cursor,
): Promise<AuthorizationsPage> {
  const { found, goOnFrom } = await findAccountGrants(context.db, session.user.userId, cursor, MAX_SHOWN);
  const fitting = found.slice(0, countFitting(found));
  const onwards = fitting.length < found.length ? (fitting.at(-1)?.grantId ?? null) : goOnFrom;
  // On the side that the cursor comes from there is at least the authorization that it names.
  const back = cursor.grantId === null ? null : (fitting[0]?.grantId ?? null);
  const [newer, older] = cursor.direction === 'older' ? [back, onwards] : [onwards, back];
  const shown = cursor.direction === 'older' ? fitting : fitting.toReversed();
  return {
    user: session.user,
    signOutToken: signOutToken(context, session),
    authorizations: shown.map((grant) => authorizationOf(context, session, grant)),
    several: await findSeveral(context, session, shown, newer !== null || older !== null),
    newer: newer === null ? null : { direction: 'newer', grantId: newer },
    older: older === null ? null : { direction: 'older', grantId: older },
  };
}

/** How many of the first fit on a page, at least one. */
function countFitting(grants: readonly AccountGrant[]): number {
  let length = 0;
  const tooMuch = grants.findIndex(({ scope }) => {
    length += scope.length;
    return length > MAX_SCOPE;
  });
  return tooMuch < 0 ? grants.length : Math.max(1, tooMuch);
}

function authorizationOf(context: Context, session: Session, grant: AccountGrant) {
  const { grantId, clientName, clientStatus, instanceName, confirmedAt, tokenIssuedAt } = grant;
  return {
    grantId,
    clientName,
    isBlocked: clientStatus === 'blocked',
    instanceName,
    confirmedAt,
    expiresAt: tokenExpiresAt(tokenIssuedAt ?? confirmedAt),
    rights: rightsOf(grant),
    disconnectToken: signForm(context, disconnectForm('disconnect', session, grantId)),
  };
}

/** @param thereAreOthers whether there are other pages */
async function findSeveral(
  context: Context,
  session: Session,
  shown: readonly AccountGrant[],
  thereAreOthers: boolean,
): Promise<AuthorizedClient[]> {
  const names = new Map(shown.map(({ clientId, clientName }) => [clientId, clientName]));
  const ids = [...names.keys()];
  const counts = thereAreOthers ? await countAccountGrants(context.db, session.user.userId, ids) : [];
  return [...names].flatMap(([clientId, clientName]) => {
    const here = shown.filter((grant) => grant.clientId === clientId).length;
    const count = counts.find((counted) => counted.clientId === clientId);
    const live = Math.max(here, count?.live ?? 0);
    if (live < 2) return [];
    const disconnectAllToken = signForm(context, disconnectForm('disconnect-all', session, clientId));
    return [{ clientId, clientName, live, orMore: count?.orMore ?? false, disconnectAllToken }];
  });
}

/** @param id of the grant or, for all of an application, of the client */
function disconnectForm(action: 'disconnect' | 'disconnect-all', owner: Session, id: string): Form {
  return { action, owner, subject: [id] };
}

/** The user revokes an authorization; its code and token are worth nothing from now on. */
export async function disconnect(
  context: Context,
  session: Session,
  { grantId, formToken }: { readonly grantId: string; readonly formToken: string | undefined },
  caller: Caller,
): Promise<{ readonly outcome: 'disconnected' | 'stale' }> {
  // The token was made for this very grant, so a grant id that fits it is one that the page listed.
  const form = disconnectForm('disconnect', session, grantId);
  if (verifyForm(context, formToken, form) === null) return { outcome: 'stale' };
  await revokeGrantOfUser(context.db, session.user.userId, grantId, caller);
  return { outcome: 'disconnected' };
}

/**
 * The user revokes all that an application may do, for as long as the caller waits: of many thousands some may be left.
 *
 * @returns `too_many` when the user has decided too much in a short time: this may look through all that was ever allowed
 */
export async function disconnectAll(
  context: Context,
  session: Session,
  { clientId, formToken }: { readonly clientId: string; readonly formToken: string | undefined },
  caller: Caller,
): Promise<{ readonly outcome: 'disconnected' | 'stale' | 'too_many' }> {
  const form = disconnectForm('disconnect-all', session, clientId);
  if (verifyForm(context, formToken, form) === null) return { outcome: 'stale' };
  const { userId } = session.user;
  if (!(await countDecision(context.db, userId))) return { outcome: 'too_many' };
  let goesOn = true;
  while (goesOn && performance.now() < caller.decideBy) {
    goesOn = await revokeGrantsOfUserAndClient(context.db, userId, clientId, caller);
  }
  return { outcome: 'disconnected' };
}

/** Whether what a link says is disconnected is so: one authorization, or all of an application. */
export async function isDisconnected(
  { db }: Context,
  { user: { userId } }: Session,
  { grantId, clientId }: { readonly grantId: string | undefined; readonly clientId: string | undefined },
): Promise<boolean> {
  if (grantId !== undefined) return isUuid(grantId) && isGrantRevoked(db, userId, grantId);
  return clientId !== undefined && areGrantsRevoked(db, userId, clientId);
}

/** The cursor of a link; the beginning when the link holds none. */
export function cursorOf(older: string | undefined, newer: string | undefined): Cursor {
  if (newer !== undefined && isUuid(newer)) return { direction: 'newer', grantId: newer };
  return { direction: 'older', grantId: older !== undefined && isUuid(older) ? older : null };
}
