import { parseReceiptNumber } from '../../rules/account/receiptNumber.ts';
import { truncateNetwork } from '../../rules/common/network.ts';
import { parseScope } from '../../rules/scope/scope.ts';
import {
  findApprovalAndEnd,
  findHistory,
  type HistoryKind,
  type HistoryRow,
} from '../../store/account/history.ts';
import type { Context } from '../common/context.ts';
import type { Session } from '../signIn/session.ts';
import { findAuthorization } from './authorizations.ts';

export type { HistoryKind } from '../../store/account/history.ts';

const MAX_EVENTS_SHOWN = 20;
/** Other text means the beginning. The digits fit PostgreSQL's types and limit the events to skip. */
const CURSOR = /^(\d{1,16})-(\d{1,4})$/;

/** An event for its user: its row, with the network instead of the address. */
export type HistoryEvent<Row extends HistoryRow = HistoryRow> = Omit<Row, 'address' | 'micros'> & {
  /** The user's, such as `203.0.113.0/24`; null if unknown, and for a program's event. */
  readonly network: string | null;
};

/** A page of the user's events, newest first, starting at another page's `older`; null if there are none. */
export async function findHistoryPage({ db }: Context, { user }: Session, from = '') {
  const [, micros = null, digits = '0'] = CURSOR.exec(from) ?? [];
  const skip = Number(digits);
  const rows = await findHistory(db, { userId: user.userId, micros, skip, most: MAX_EVENTS_SHOWN + 1 });
  const shown = rows.slice(0, MAX_EVENTS_SHOWN);
  // After the last shown event; others may have the same time.
  const last = shown.at(-1)?.micros ?? null;
  const shownThen = shown.filter((row) => row.micros === last).length + (last === micros ? skip : 0);
  const older = rows.length > MAX_EVENTS_SHOWN ? `${last}-${shownThen}` : null;
  return { events: toHistoryEvents(shown), older };
}

/** Events whose address is a program's: it is not shown as the user's. */
const BY_PROGRAMS: readonly HistoryKind[] = ['replayed', 'revoked_by_application'];

export function toHistoryEvents<Row extends HistoryRow>(rows: readonly Row[]) {
  return rows.map(({ address, micros: _, ...event }): HistoryEvent<Row> => {
    const isPersons = address !== null && !BY_PROGRAMS.includes(event.kind);
    return { ...event, network: isPersons ? truncateNetwork(address) : null };
  });
}

export type PastApproval = NonNullable<Awaited<ReturnType<typeof findPastApproval>>>;

/**
 * The user's approval with this number, as it was decided. `end`: the event that ended or replaced it; `live`: without one, its
 * authorization. @returns null also for another user's, and for one that the trail no longer has
 */
export async function findPastApproval(context: Context, session: Session, number: string) {
  const named = parseReceiptNumber(number);
  const { userId } = session.user;
  const rows = named === null ? [] : await findApprovalAndEnd(context.db, { userId, ...named });
  const [approval, end = null] = toHistoryEvents(rows).toReversed();
  if (approval === undefined) return null;
  return {
    ...approval,
    rights: parseScope(approval.scope, context.currency),
    end,
    live: end === null ? await findAuthorization(context, session, approval.grantId) : undefined,
  };
}
