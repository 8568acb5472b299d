import type { Caller } from '../rules/caller.ts';
import { expiresSoon, tokenExpiresAt } from '../rules/lifetimes.ts';
import { grantedRights, spends } from '../rules/scope.ts';
import { isUuid } from '../secrets/uuid.ts';
import {
  type AccountGrant,
  type Cursor,
  countAccountGrants,
  findAccountGrants,
} from '../store/accountGrants.ts';
import { revokeGrantOfUser } from '../store/revocations.ts';
import type { Session } from '../store/sessions.ts';
import type { Context } from './context.ts';
import { revokeAll } from './revokeAll.ts';
import { type Form, signForm, verifyForm } from './signedForm.ts';

export type { Cursor };

/** Authorizations on one page. */
const MAX_SHOWN = 20;
/** Characters of their scopes together; the first authorization is shown whatever its length. */
const MAX_SCOPE = 16_000;

/** A page of what can act on the user's account, newest first, with the tokens of its forms. */
export interface AuthorizationsPage {
  readonly authorizations: readonly LiveAuthorization[];
  /** The same by application: first those that can spend, then the rest, the newest of each first. */
  readonly applications: readonly AuthorizedClient[];
  /** Where the pages of the newer and of the older ones begin; null where there are none. */
  readonly newer: Cursor | null;
  readonly older: Cursor | null;
}

/** One live authorization: what it allows, since when, until when, last used on which day (UTC), and its state. */
export type LiveAuthorization = ReturnType<typeof authorizationOf>;

/** An application that can act on the user's account. */
export interface AuthorizedClient {
  readonly clientId: string;
  readonly clientName: string;
  readonly clientLogo: string | null;
  readonly isBlocked: boolean;
  /** It is not blocked, and one of its authorizations on this page lets it spend. */
  readonly canSpend: boolean;
  /** Those on this page, newest first. */
  readonly authorizations: readonly LiveAuthorization[];
  /** How many it has on all pages together; `orMore` when only the newest were counted. */
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
  const { found, nextFrom } = await findAccountGrants(context.db, session.user.userId, cursor, MAX_SHOWN);
  const fitting = found.slice(0, countFitting(found));
  const next = fitting.length < found.length ? (fitting.at(-1)?.grantId ?? null) : nextFrom;
  // On the side that the cursor comes from there is at least the authorization that it names.
  const back = cursor.grantId === null ? null : (fitting[0]?.grantId ?? null);
  const [newer, older] = cursor.direction === 'older' ? [back, next] : [next, back];
  const shown = cursor.direction === 'older' ? fitting : fitting.toReversed();
  const authorizations = shown.map((grant) => authorizationOf(context, session, grant));
  return {
    authorizations,
    applications: spendingFirst(
      await groupByClient(context, session, authorizations, (newer ?? older) !== null),
    ),
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
  const { grantId, clientId, clientName, clientLogo, clientStatus } = grant;
  const { instanceName, confirmedAt, lastUsedOn } = grant;
  const expiresAt = tokenExpiresAt(grant.tokenIssuedAt ?? confirmedAt);
  return {
    grantId,
    clientId,
    clientName,
    clientLogo,
    /** The application is blocked, and can't use what it was allowed. */
    isBlocked: clientStatus === 'blocked',
    instanceName,
    confirmedAt,
    lastUsedOn,
    expiresAt,
    expiresSoon: expiresSoon(expiresAt, grant.now),
    rights: grantedRights(grant),
    disconnectToken: signForm(context, disconnectForm(session, { action: 'disconnect', id: grantId })),
  };
}

/** @param thereAreOthers whether there are other pages */
async function groupByClient(
  context: Context,
  session: Session,
  shown: readonly LiveAuthorization[],
  thereAreOthers: boolean,
): Promise<AuthorizedClient[]> {
  const clients = new Map(shown.map((authorization) => [authorization.clientId, authorization]));
  const ids = [...clients.keys()];
  const counts = thereAreOthers ? await countAccountGrants(context.db, session.user.userId, ids) : [];
  return [...clients.values()].map(({ clientId, clientName, clientLogo, isBlocked }) => {
    const authorizations = shown.filter((one) => one.clientId === clientId);
    const count = counts.find((counted) => counted.clientId === clientId);
    const form = disconnectForm(session, { action: 'disconnect-all', id: clientId });
    return {
      clientId,
      clientName,
      clientLogo,
      isBlocked,
      canSpend: !isBlocked && authorizations.some(({ rights }) => spends(rights)),
      authorizations,
      live: Math.max(authorizations.length, count?.live ?? 0),
      orMore: count?.orMore ?? false,
      disconnectAllToken: signForm(context, form),
    };
  });
}

/**
 * Those that can spend come first. Only a page is sorted: what a scope allows is no column, so PostgreSQL can't page by it,
 * and a page that began in the middle of another order would show some connections twice and others never.
 */
function spendingFirst(applications: readonly AuthorizedClient[]): AuthorizedClient[] {
  return [...applications].sort((one, other) => Number(other.canSpend) - Number(one.canSpend));
}

/** What is disconnected: one authorization, by its grant's id, or all of an application, by its client's. */
export interface Disconnection {
  readonly action: 'disconnect' | 'disconnect-all';
  readonly id: string;
}

function disconnectForm(session: Session, { action, id }: Disconnection): Form {
  return { action, owner: session, subject: [id] };
}

/**
 * The user revokes an authorization, or all that an application may do: codes and tokens are worth nothing from now on. Of
 * many thousands some may be left when the caller can't wait any longer.
 *
 * @returns `too_many` when the user has decided too much in a short time
 */
export async function disconnect(
  context: Context,
  session: Session,
  sent: Disconnection & { readonly formToken: string | undefined },
  caller: Caller,
): Promise<{ readonly outcome: 'disconnected' | 'stale' | 'too_many' }> {
  // The token was made for this very id, so one that fits it is one that the page listed.
  if (verifyForm(context, sent.formToken, disconnectForm(session, sent)) === null)
    return { outcome: 'stale' };
  const { userId } = session.user;
  if (sent.action === 'disconnect') {
    await revokeGrantOfUser(context.db, userId, sent.id, caller);
    return { outcome: 'disconnected' };
  }
  return { outcome: (await revokeAll(context, userId, sent.id, caller)) ? 'disconnected' : 'too_many' };
}

/** The cursor of a link; the beginning when the link holds none. */
export function cursorOf(older: string | undefined, newer: string | undefined): Cursor {
  if (newer !== undefined && isUuid(newer)) return { direction: 'newer', grantId: newer };
  return { direction: 'older', grantId: older !== undefined && isUuid(older) ? older : null };
}
