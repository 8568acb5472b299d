import { isUuid } from '../secrets/uuid.ts';
import {
  areConnectionsTakenBack,
  type Connection,
  type ConnectionCount,
  type Cursor,
  countConnections,
  findConnections,
  isConnectionTakenBack,
} from '../store/accountGrants.ts';
import { countDecision } from '../store/decisions.ts';
import { revokeGrantOfUser, revokeGrantsOfUserAndClient } from '../store/revocations.ts';
import type { Session } from '../store/sessions.ts';
import type { Caller, Context } from './context.ts';

export type { Connection, ConnectionCount, Cursor };

/** What one page shows: so many connections, fewer when much was allowed. */
const MAX_SHOWN = 20;
const MAX_SCOPE = 16_000;

/** A page of what can act on the user's account, newest first. */
export interface ConnectionsPage {
  readonly connections: readonly Connection[];
  /** How many of each application there are on all pages. */
  readonly counts: readonly ConnectionCount[];
  /** Where the pages of the newer and of the older ones begin; null where there are none. */
  readonly newer: Cursor | null;
  readonly older: Cursor | null;
}

/** One page of the user's connections. It reads little more than that, however many there are. */
export async function findConnectionsPage(
  { db }: Context,
  { user: { userId } }: Session,
  cursor: Cursor,
): Promise<ConnectionsPage> {
  const { found, goOnFrom } = await findConnections(db, userId, cursor, MAX_SHOWN);
  const fitting = found.slice(0, countFitting(found));
  const onwards = fitting.length < found.length ? (fitting.at(-1)?.grantId ?? null) : goOnFrom;
  // On the side that we come from there is at least the one that the cursor names.
  const back = cursor.grantId === null ? null : (fitting[0]?.grantId ?? null);
  const [newer, older] = cursor.direction === 'older' ? [back, onwards] : [onwards, back];
  const connections = cursor.direction === 'older' ? fitting : fitting.toReversed();
  return {
    connections,
    counts: await countAll(db, userId, connections, newer !== null || older !== null),
    newer: newer === null ? null : { direction: 'newer', grantId: newer },
    older: older === null ? null : { direction: 'older', grantId: older },
  };
}

/** How many of the first fit on a page, at least one. */
function countFitting(connections: readonly Connection[]): number {
  let length = 0;
  const tooMuch = connections.findIndex(({ scope }) => {
    length += scope.length;
    return length > MAX_SCOPE;
  });
  return tooMuch < 0 ? connections.length : Math.max(1, tooMuch);
}

async function countAll(
  db: Context['db'],
  userId: string,
  shown: readonly Connection[],
  thereAreOthers: boolean,
): Promise<ConnectionCount[]> {
  const clientIds = [...new Set(shown.map(({ clientId }) => clientId))];
  const counts = thereAreOthers ? await countConnections(db, userId, clientIds) : [];
  return clientIds.map((clientId) => {
    const here = shown.filter((connection) => connection.clientId === clientId).length;
    const count = counts.find((counted) => counted.clientId === clientId);
    return { clientId, live: Math.max(here, count?.live ?? 0), orMore: count?.orMore ?? false };
  });
}

/** The user takes an authorization back; its code and token are worth nothing from now on. */
export function disconnect(
  { db }: Context,
  session: Session,
  grantId: string,
  caller: Caller,
): Promise<void> {
  return revokeGrantOfUser(db, session.user.userId, grantId, caller);
}

/**
 * The user takes back all that an application may do, for as long as the caller waits: of many thousands some may be left.
 *
 * @returns false when the user has decided too much in a short time
 */
export async function disconnectAll(
  { db }: Context,
  { user: { userId } }: Session,
  clientId: string,
  caller: Caller,
): Promise<boolean> {
  if (!(await countDecision(db, userId))) return false; // it may have to look through all that the user ever allowed
  let goesOn = true;
  while (goesOn && performance.now() < caller.decideBy) {
    goesOn = await revokeGrantsOfUserAndClient(db, userId, clientId, caller);
  }
  return true;
}

/** What a link says is disconnected: an authorization by its id, or all of an application by the application's. */
export interface Disconnected {
  readonly grantId: string | undefined;
  readonly clientId: string | undefined;
}

/** Whether the user had such authorizations and all are taken back, whoever says so in a link. */
export async function isDisconnected(
  { db }: Context,
  { user: { userId } }: Session,
  { grantId, clientId }: Disconnected,
): Promise<boolean> {
  if (grantId !== undefined) return isUuid(grantId) && isConnectionTakenBack(db, userId, grantId);
  return clientId !== undefined && areConnectionsTakenBack(db, userId, clientId);
}

/** The cursor of a link; the beginning when it holds none that can be one. */
export function cursorOf(older: string | undefined, newer: string | undefined): Cursor {
  if (newer !== undefined && isUuid(newer)) return { direction: 'newer', grantId: newer };
  return { direction: 'older', grantId: older !== undefined && isUuid(older) ? older : null };
}
