// Every lifetime: how long what a user, an application or an operator has stays good, with unit and reason. Times of rows are
// compared with the database's clock: in a statement, or with the `now` that it returned. How long one request may take is in
// `timeouts.ts`; the times of arriving requests stand in `http/app.ts`, of connections in `http/server/`.

const MINUTE_MS = 60 * 1_000;

/** An authorization code at most, less than a minute (contract section 8); `CODE_LIFETIME_SECONDS` chooses within that. */
export const MAX_CODE_SECONDS = 59;
export const DEFAULT_CODE_SECONDS = 50;

/**
 * A session without requests: its user may have left the device. Counted from `sessions.seen_at`, which is written at most once
 * a minute (`store/sessions.ts`), so that a session may end up to a minute early.
 */
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
const LONG_LIFETIME_MONTHS = 36;
const SHORT_LIFETIME_MONTHS = 6;

/**
 * When an access token expires: 3 years after its issue, or 6 months for tokens obtained before
 * 7 February 2018 (contract sections 3 and 8). Calendar arithmetic in UTC; a day that the month does not
 * have becomes its last one, so a token of 29 February ends on 28 February.
 *
 * PostgreSQL has the same in the function `is_live`: a change needs a migration. `test/store/liveGrants.test.ts` compares them.
 */
export function tokenExpiresAt(issuedAt: Date): Date {
  const months = issuedAt.getTime() < LONG_LIVED_SINCE ? SHORT_LIFETIME_MONTHS : LONG_LIFETIME_MONTHS;
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

/** An authorization that ends this soon is shown as expiring: time to give a new one before the old one stops working. */
export const EXPIRES_SOON_DAYS = 30;

/** Whether a token that expires then is to be shown as expiring. */
export function expiresSoon(expiresAt: Date, now: Date): boolean {
  return expiresAt.getTime() - now.getTime() <= EXPIRES_SOON_DAYS * 24 * 60 * MINUTE_MS;
}

/** Lifetime of a token in whole seconds, the `expires_in` of the token response. */
export function tokenLifetimeSeconds(issuedAt: Date): number {
  return Math.floor((tokenExpiresAt(issuedAt).getTime() - issuedAt.getTime()) / 1000);
}
