import { MAX_SHOWN_SCOPE_CHARACTERS } from '../../rules/common/limits.ts';
import { truncateNetwork } from '../../rules/common/network.ts';
import { parseScope, type Right } from '../../rules/scope/scope.ts';
import { findHistory, type HistoryKind, type HistoryRow } from '../../store/account/history.ts';
import type { Context } from '../common/context.ts';
import type { Session } from '../signIn/session.ts';

export type { HistoryKind } from '../../store/account/history.ts';

const MAX_EVENTS_SHOWN = 20;
/** Other text means the beginning. The digits fit PostgreSQL's types and limit the events to skip. */
const CURSOR = /^(\d{1,16})-(\d{1,4})$/;

/** An event for its user: its row, with rights and network instead of scope and address. */
export type HistoryEvent<Row extends HistoryRow = HistoryRow> = Omit<Row, 'address' | 'micros' | 'scope'> & {
  /** Allowed by it; null for other events, and for scopes too long for the page. */
  readonly rights: readonly Right[] | null;
  /** The user's, such as `203.0.113.0/24`; null if unknown, and for a program's event. */
  readonly network: string | null;
};

/** A page of the user's events, newest first, starting at another page's `older`; null if there are none. */
export async function findHistoryPage({ db, currency }: Context, { user }: Session, from = '') {
  const [, micros = null, digits = '0'] = CURSOR.exec(from) ?? [];
  const skip = Number(digits);
  const rows = await findHistory(db, { userId: user.userId, micros, skip, most: MAX_EVENTS_SHOWN + 1 });
  const shown = rows.slice(0, MAX_EVENTS_SHOWN);
  // After the last shown event; others may have the same time.
  const last = shown.at(-1)?.micros ?? null;
  const shownThen = shown.filter((row) => row.micros === last).length + (last === micros ? skip : 0);
  const older = rows.length > MAX_EVENTS_SHOWN ? `${last}-${shownThen}` : null;
  return { events: toHistoryEvents(shown, currency), older };
}

/** Events whose address is a program's: it is not shown as the user's. */
const BY_PROGRAMS: readonly HistoryKind[] = ['replayed', 'revoked_by_application'];

const ALLOWED: readonly HistoryKind[] = ['approved', 'approved_again'];

/** Rights are included while their scopes fit on a page. */
export function toHistoryEvents<Row extends HistoryRow>(rows: readonly Row[], currency: string) {
  let length = 0;
  return rows.map((row): HistoryEvent<Row> => {
    length += row.scope?.length ?? 0;
    const { address, micros: _, scope, ...event } = row;
    const isPersons = address !== null && !BY_PROGRAMS.includes(row.kind);
    const isTold = length <= MAX_SHOWN_SCOPE_CHARACTERS && scope !== null && ALLOWED.includes(row.kind);
    const rights = isTold ? parseScope(scope, currency) : null;
    return { ...event, rights, network: isPersons ? truncateNetwork(address) : null };
  });
}
