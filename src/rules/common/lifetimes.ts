// Lifetimes of what we issue and keep, with unit and reason, by the database's clock. Time limits of a request are in
// `timeouts.ts`, of arriving requests in `http/app.ts`, of connections in `http/connections/`.

const MINUTE_MS = 60 * 1_000;

/** An authorization code at most, less than a minute (contract section 8); `CODE_LIFETIME_SECONDS` chooses within that. */
export const MAX_CODE_SECONDS = 59;
export const DEFAULT_CODE_SECONDS = 50;

/** A session without requests: its user may have left the device. It may end a minute early (`SEEN_INTERVAL`). */
export const SESSION_IDLE_MINUTES = 30;
/** A session in use: a working day, then the password is asked again. */
export const MAX_SESSION_HOURS = 12;

/** A consent form: time to read it twice. Sent later, it is shown afresh. */
export const CONSENT_FORM_MS = 15 * MINUTE_MS;
/** Any other form of a session: as long as a session may last, so that the end of the session decides. */
export const SESSION_FORM_MS = MAX_SESSION_HOURS * 60 * MINUTE_MS;
/** A sign-in form: a page that was left open over a night or a holiday weekend still signs its user in. */
export const SIGN_IN_FORM_MS = 7 * 24 * 60 * MINUTE_MS;
/** A confirmation by the payment password, good for one request: time until its consent page is asked for. */
export const PAYMENT_CONFIRMATION_MS = 5 * MINUTE_MS;

/** A browser in which a password was right is known for it (OWASP's device cookie), also after sign-out. */
export const KNOWN_DEVICE_SECONDS = 90 * 24 * 60 * 60;

/** A refusal that `assent explain` finds by its reference. */
export const REFUSALS_KEPT_DAYS = 7;
/** The audit trail: as long as a token lives, and a month to look at it. */
export const AUDIT_KEPT_MONTHS = 37;

/** From here on a token lives 3 years, before it 6 months (contract section 8). */
const LONG_LIVED_SINCE = Date.UTC(2018, 1, 7);

/**
 * Calendar arithmetic in UTC (contract sections 3 and 8): a token of 29 February ends on 28 February. PostgreSQL has the same
 * in `is_live`: a change needs a migration, and `test/store/liveGrants.test.ts` compares them.
 */
export function tokenExpiresAt(issuedAt: Date): Date {
  const months = issuedAt.getTime() < LONG_LIVED_SINCE ? 6 : 36;
  const expiresAt = new Date(issuedAt);
  expiresAt.setUTCMonth(issuedAt.getUTCMonth() + months);
  // Too few days in that month: JavaScript has gone on into the next one, whose day 0 is the last of the month before.
  if (expiresAt.getUTCDate() !== issuedAt.getUTCDate()) expiresAt.setUTCDate(0);
  return expiresAt;
}

/** Days from one time to a later one, the last of them begun. */
export function daysUntil(later: Date, now: Date): number {
  return Math.ceil((later.getTime() - now.getTime()) / (24 * 60 * MINUTE_MS));
}

/** Shown as expiring: time to give a new authorization before the old one stops working. */
const EXPIRES_SOON_DAYS = 30;

export function expiresSoon(expiresAt: Date, now: Date): boolean {
  return expiresAt.getTime() - now.getTime() <= EXPIRES_SOON_DAYS * 24 * 60 * MINUTE_MS;
}

/** The `expires_in` of the token response. */
export function tokenLifetimeSeconds(issuedAt: Date): number {
  return Math.floor((tokenExpiresAt(issuedAt).getTime() - issuedAt.getTime()) / 1000);
}
