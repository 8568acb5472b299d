import { findWarningEvents, WARNING_KINDS, type WarningRow } from '../../store/account/history.ts';
import type { Context } from '../common/context.ts';
import { bindForm, signForm, verifyForm } from '../common/signedForm.ts';
import { readSeen, type Seen, seenCookieSessionId, seenCookieWith } from '../signIn/seenWarnings.ts';
import type { Session } from '../signIn/session.ts';
import { type HistoryEvent, type HistoryKind, toHistoryEvents } from './history.ts';

export { WARNING_DAYS } from '../../store/account/history.ts';

const MAX_WARNINGS_SHOWN = 10;

/** Exceeds any transaction that records an event. */
const COMMITTED_MS = 60_000;

/** Mostly the user's own acts: a warning asks about them, but the history does not mark them. */
const OWN_ACTS: readonly HistoryKind[] = ['approved', 'approved_again', 'signed_in'];

export function isSuspicious(kind: HistoryKind): boolean {
  return (WARNING_KINDS as readonly HistoryKind[]).includes(kind) && !OWN_ACTS.includes(kind);
}

/** Events possibly caused by another person, grouped by kind, application, network and device. */
export interface Warning extends Omit<HistoryEvent<WarningRow>, 'kind'> {
  /** A confirmed approval is one of its confirmation: nothing else of it is news. */
  readonly kind:
    | Exclude<WarningRow['kind'], 'approved' | 'approved_again'>
    | 'payment_confirmed'
    | 'provider_confirmed';
}

export type Warnings = NonNullable<Awaited<ReturnType<typeof findWarnings>>>;

/** The warnings not seen in this browser; null for none. @param cookie of the browser, null for none */
export async function findWarnings(context: Context, session: Session, cookie: string | null) {
  const rows = await findUnseen(context, session, readSeen(session, cookie), MAX_WARNINGS_SHOWN);
  const warnings = toHistoryEvents(rows).map(({ kind, ...event }): Warning => {
    if (kind !== 'approved' && kind !== 'approved_again') return { ...event, kind };
    return { ...event, kind: event.confirmedBy === 'provider' ? 'provider_confirmed' : 'payment_confirmed' };
  });
  // Guesses need no password: they follow all events that prove its use.
  const [first, ...others] = warnings.sort((one, other) => Number(isGuess(one)) - Number(isGuess(other)));
  if (first === undefined) return null;
  return {
    first: answerable(context, session, [first]),
    others: others.length > 0 ? answerable(context, session, others) : null,
    hasMore: rows[0]?.hasMore === true,
  };
}

function findUnseen({ db }: Context, session: Session, { micros, sessions, warnings }: Seen, most: number) {
  const own = { userId: session.user.userId, sessions: [seenCookieSessionId(session), ...sessions] };
  return findWarningEvents(db, { micros, warnings, most, ...own });
}

const isGuess = ({ kind }: Warning) => kind === 'password_guessed';

/** Warnings answered by one form: exactly those it shows. */
function answerable(context: Context, session: Session, warnings: readonly Warning[]) {
  const answered = warnings.map(({ seen }) => seen).join(' ');
  return { warnings, answered, seenToken: signForm(context, bindForm('see-warnings', session, answered)) };
}

/** Marks the warnings of a form as seen. @returns the new cookie; null for an invalid form */
export async function seeWarnings(
  context: Context,
  session: Session,
  { answered, formToken }: { readonly answered: string; readonly formToken: string | undefined },
  cookie: string | null,
): Promise<string | null> {
  if (verifyForm(context, formToken, bindForm('see-warnings', session, answered)) === null) return null;
  const before = readSeen(session, cookie);
  const seen = { ...before, warnings: [...new Set([...before.warnings, ...answered.split(' ')])] };
  const left = await findUnseen(context, session, seen, 1);
  return seenCookieWith(session, cookie, left.length > 0 ? seen : shortened(seen, session.now));
}

/** Marks all warnings as seen. @returns the new cookie */
export async function markAllSeen(
  context: Context,
  session: Session,
  cookie: string | null,
): Promise<string> {
  const before = readSeen(session, cookie);
  const shown = (await findUnseen(context, session, before, MAX_WARNINGS_SHOWN)).map(({ seen }) => seen);
  const seen = { ...before, warnings: [...before.warnings, ...shown] };
  return seenCookieWith(session, cookie, shortened(seen, session.now));
}

/** If no warning is left, a time replaces the earlier ones: before it, no event can still be uncommitted. */
function shortened({ micros, warnings, ...own }: Seen, now: Date): Seen {
  const until = Math.max(Number(micros), (now.getTime() - COMMITTED_MS) * 1000);
  const later = warnings.filter((warning) => Number(warning.split('-').at(-1)) > until);
  return { ...own, micros: String(until), warnings: later };
}
