import { shownNetwork } from '../rules/network.ts';
import { parseScope, type Right } from '../rules/scope.ts';
import { findHistory, type HistoryKind, type HistoryPlace, type HistoryRow } from '../store/history.ts';
import type { Context } from './context.ts';
import type { Session } from './session.ts';

export { HISTORY_KINDS, type HistoryKind } from '../store/history.ts';

/** Events on one page. */
const MAX_SHOWN = 20;
/** Characters of the scopes that one page tells of. */
const MAX_SCOPE = 16_000;

/** Something that a user did, or that happened to the account. Null for what an event has not. */
export interface HistoryEvent {
  readonly kind: HistoryKind;
  readonly at: Date;
  readonly clientId: string | null;
  /** As the application is called now; null when it was deleted. */
  readonly clientName: string | null;
  readonly instanceName: string | null;
  /** What was allowed; null also where it is too long to tell, or can't be read any more. */
  readonly rights: readonly Right[] | null;
  /** Where the person was, such as `203.0.113.0/24`; null for what a program or an operator did. */
  readonly network: string | null;
}

/** A page of the user's history, newest first. */
export interface HistoryPage {
  readonly events: readonly HistoryEvent[];
  /** For the link to the older ones, as {@link findHistoryPage} takes it; null when there are none. */
  readonly older: string | null;
}

/** A page of what the trail has of the user. It reads little more than that, however much there is. */
export async function findHistoryPage(
  { db }: Context,
  { user }: Session,
  from: string | undefined,
): Promise<HistoryPage> {
  const place = placeIn(from);
  const rows = await findHistory(db, user.userId, place, MAX_SHOWN + 1);
  const shown = rows.slice(0, MAX_SHOWN);
  return { events: eventsOf(shown), older: rows.length > MAX_SHOWN ? nextPlace(place, shown) : null };
}

/** Whose address is in the event of a program's request. */
const BY_PROGRAMS: readonly HistoryKind[] = ['replayed', 'revoked_by_application'];

const ALLOWED: readonly HistoryKind[] = ['approved', 'approved_again'];

/** Rights are told as long as their scopes fit on a page. */
export function eventsOf(rows: readonly HistoryRow[]): HistoryEvent[] {
  let length = 0;
  return rows.map((row) => {
    length += row.scope?.length ?? 0;
    return eventOf(row, length <= MAX_SCOPE);
  });
}

function eventOf({ address, micros: _, scope, ...event }: HistoryRow, fits: boolean): HistoryEvent {
  const isPersons = address !== null && !BY_PROGRAMS.includes(event.kind);
  const rights = fits && scope !== null && ALLOWED.includes(event.kind) ? rightsIn(scope) : null;
  return { ...event, rights, network: isPersons ? shownNetwork(address) : null };
}

/** The trail keeps scopes by the rules of their time. */
function rightsIn(scope: string): readonly Right[] | null {
  try {
    return parseScope(scope);
  } catch {
    return null;
  }
}

/** Any other text is the beginning. Few enough digits for the types of PostgreSQL, and few enough events to skip. */
const PLACE = /^(\d{1,16})-(\d{1,4})$/;

function placeIn(from: string | undefined): HistoryPlace {
  const [, micros = null, skip = '0'] = PLACE.exec(from ?? '') ?? [];
  return { micros, skip: Number(skip) };
}

/** After the last of those shown, beside which there may be others of the very same time. */
function nextPlace(place: HistoryPlace, shown: readonly HistoryRow[]): string | null {
  const micros = shown.at(-1)?.micros ?? null;
  const shownBefore = micros === place.micros ? place.skip : 0;
  return `${micros}-${shownBefore + shown.filter((row) => row.micros === micros).length}`;
}
