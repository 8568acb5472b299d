import { findWarningEvents, WARNING_KINDS, type WarningRow } from '../../store/account/history.ts';
import type { Context } from '../common/context.ts';
import { type Form, signForm, verifyForm } from '../common/signedForm.ts';
import { changeSeen, seenBy, seenIdOf } from '../signIn/seenWarnings.ts';
import type { Session } from '../signIn/session.ts';
import { eventsOf, type HistoryKind } from './history.ts';

export { WARNING_DAYS } from '../../store/account/history.ts';

/** Warnings shown at once. */
const MAX_SHOWN = 3;

export type WarningKind = (typeof WARNING_KINDS)[number];

export function isWarningKind(kind: HistoryKind): kind is WarningKind {
  return (WARNING_KINDS as readonly HistoryKind[]).includes(kind);
}

/** Mostly the user's own act; the history does not mark it as a warning. */
export function isUsuallyOwnAct(kind: WarningKind): boolean {
  return kind === 'payment_confirmed' || kind === 'signed_in';
}

/** An event that another person may have caused; its device is known of sign-ins alone. */
export type Warning = ReturnType<typeof warningOf>[number];

/** Unseen warnings of one browser. */
export type Warnings = NonNullable<Awaited<ReturnType<typeof findWarnings>>>;

/** The warnings not seen in this browser; null for none. @param cookie of the browser, null for none */
export async function findWarnings(context: Context, session: Session, cookie: string | null) {
  const { micros, sessions } = seenBy(session, cookie);
  const { userId } = session.user;
  const seen = { userId, micros, sessions: [seenIdOf(session), ...sessions] };
  const rows = await findWarningEvents(context.db, { ...seen, most: MAX_SHOWN });
  const [first] = rows;
  if (first === undefined) return null;
  return {
    /** Newest first, one at least. */
    events: rows.flatMap((row) => warningOf(row, context.currency)),
    /** The history has others, also such as are like one of these. */
    hasMore: first.found > rows.length,
    /** Up to where they are seen when the user says so: microseconds since 1970. */
    newest: first.micros,
    seenToken: signForm(context, seenForm(session, first.micros)),
  };
}

function warningOf({ found: _, browser, system, ...row }: WarningRow, currency: string) {
  return eventsOf([row], currency).flatMap((event) => {
    return isWarningKind(event.kind) ? [{ ...event, kind: event.kind, device: { browser, system } }] : [];
  });
}

/** Marks warnings as seen. @returns the new cookie; null for a form that does not fit */
export function seeWarnings(
  context: Context,
  session: Session,
  { newest, formToken }: { readonly newest: string; readonly formToken: string | undefined },
  cookie: string | null,
): string | null {
  if (verifyForm(context, formToken, seenForm(session, newest)) === null) return null;
  const seen = seenBy(session, cookie);
  // A page that was opened earlier knows of less.
  const micros = BigInt(newest) > BigInt(seen.micros) ? newest : seen.micros;
  return changeSeen(session, cookie, { ...seen, micros });
}

function seenForm(session: Session, newest: string): Form {
  return { action: 'see-warnings', owner: session, subject: [newest] };
}
