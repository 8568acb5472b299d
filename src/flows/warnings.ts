import { MAX_KNOWN_USERS } from '../rules/limits.ts';
import type { Device } from '../rules/userAgent.ts';
import { bytesOf, hexOf, sha256 } from '../secrets/digest.ts';
import { findWarningEvents, SESSION_ID_BEGINNING, WARNING_KINDS, type WarningRow } from '../store/history.ts';
import type { Context } from './context.ts';
import { eventsOf, type HistoryEvent, type HistoryKind } from './history.ts';
import type { Session } from './session.ts';
import { type Form, signForm, verifyForm } from './signedForm.ts';

export { WARNING_DAYS } from '../store/history.ts';

// What a user is told of until the user has seen it, in each browser by itself: a cookie has the time of the newest event
// that was seen there, and the sessions that began there, or in which the payment password was typed. So whoever is signed in
// elsewhere hides nothing. It is worth silence and nothing else, so nobody signs it.

/** Warnings shown at once. */
const MAX_SHOWN = 3;
/** Sessions that a browser remembers of a user. */
const MAX_SESSIONS_KEPT = 10;

export type WarningKind = (typeof WARNING_KINDS)[number];

/** Whether somebody else may have done it. */
export function isWarningKind(kind: HistoryKind): kind is WarningKind {
  return (WARNING_KINDS as readonly HistoryKind[]).includes(kind);
}

/** Whether it is most often the user's own act: all those in the history are no warnings. */
export function isMostOftenOwn(kind: WarningKind): boolean {
  return kind === 'payment_confirmed' || kind === 'signed_in';
}

/** Something that somebody else may have done. */
export interface Warning extends HistoryEvent {
  readonly kind: WarningKind;
  /** With what somebody signed in; of other kinds nothing is known. */
  readonly device: Device;
}

/** What somebody else may have done, newest first, one at least. */
export interface Warnings {
  readonly events: readonly Warning[];
  /** Whether the history has others, also such as are like one of these. */
  readonly hasMore: boolean;
  /** Up to where they are seen when the user says so: microseconds since 1970. */
  readonly newest: string;
  readonly seenToken: string;
}

/** What the user is to be warned of in this browser; null for nothing. @param cookie what was seen in it, null for nothing */
export async function findWarnings(
  context: Context,
  session: Session,
  cookie: string | null,
): Promise<Warnings | null> {
  const { micros, sessions } = seenBy(session, cookie);
  const { userId } = session.user;
  const seen = { userId, micros, sessions: [idOf(session), ...sessions] };
  const rows = await findWarningEvents(context.db, seen, MAX_SHOWN);
  const [first] = rows;
  if (first === undefined) return null;
  return {
    events: rows.flatMap(warningOf),
    hasMore: first.found > rows.length,
    newest: first.micros,
    seenToken: signForm(context, seenForm(session, first.micros)),
  };
}

function warningOf({ found: _, browser, system, ...row }: WarningRow): Warning[] {
  return eventsOf([row]).flatMap((event) => {
    return isWarningKind(event.kind) ? [{ ...event, kind: event.kind, device: { browser, system } }] : [];
  });
}

/**
 * The user has seen the warnings up to one.
 *
 * @param cookie as it is in the browser: what other users have seen there stays seen
 * @returns the new cookie; null when the form does not fit
 */
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
  return changed(session, cookie, { ...seen, micros });
}

/**
 * The payment password was typed in this browser, or somebody signed in who was not known in it: no news in its next session.
 *
 * @returns the new cookie
 */
export function rememberSession(session: SessionOfUser, cookie: string | null): string {
  const { micros, sessions } = seenBy(session, cookie);
  const own = [...new Set([idOf(session), ...sessions])].slice(0, MAX_SESSIONS_KEPT);
  return changed(session, cookie, { micros, sessions: own });
}

/** Of a session, what the cookie goes by. */
interface SessionOfUser {
  readonly sessionHash: Session['sessionHash'];
  readonly user: Pick<Session['user'], 'userId'>;
}

/** What one user has seen in a browser. */
interface Seen {
  readonly micros: string;
  readonly sessions: readonly string[];
}

const NOTHING: Seen = { micros: '0', sessions: [] };

function seenBy(session: SessionOfUser, cookie: string | null): Seen {
  return seenIn(cookie).get(keyOf(session)) ?? NOTHING;
}

const PART = /^([0-9a-f]{16})-(\d{1,16})((?:-[0-9a-f]{16}){0,10})$/;

/** By user. Whatever else the cookie holds is nothing. */
function seenIn(cookie: string | null): Map<string, Seen> {
  const parts = cookie?.split('.', MAX_KNOWN_USERS) ?? [];
  return new Map(
    parts.flatMap((part) => {
      const [, key, micros, sessions] = PART.exec(part) ?? [];
      if (key === undefined || micros === undefined) return [];
      return [[key, { micros, sessions: sessions?.split('-').slice(1) ?? [] }] as const];
    }),
  );
}

function changed(session: SessionOfUser, cookie: string | null, seen: Seen): string {
  const key = keyOf(session);
  const others = [...seenIn(cookie)].filter(([other]) => other !== key);
  const all = [[key, seen] as const, ...others].slice(0, MAX_KNOWN_USERS);
  return all.map(([of, { micros, sessions }]) => [of, micros, ...sessions].join('-')).join('.');
}

/** The cookie names nobody to whoever finds it. */
function keyOf({ user }: SessionOfUser): string {
  return hexOf(sha256(user.userId)).slice(0, 16);
}

/** As `sessionIdOf` has it in SQL. */
function idOf({ sessionHash }: SessionOfUser): string {
  return hexOf(sha256(bytesOf(sessionHash))).slice(0, SESSION_ID_BEGINNING);
}

function seenForm(session: Session, newest: string): Form {
  return { action: 'see-warnings', owner: session, subject: [newest] };
}
