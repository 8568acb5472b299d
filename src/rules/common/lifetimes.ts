// Lifetimes of issued and stored things, with unit and reason, by the database's clock; of sign-in forms, sign-ins at a provider
// and known devices by the server's.

const MINUTE_MS = 60 * 1_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Maximum of an authorization code, less than a minute (contract section 8); `CODE_LIFETIME_SECONDS` chooses within it. */
export const MAX_CODE_SECONDS = 59;
export const DEFAULT_CODE_SECONDS = 50;

/** A session without requests: its user may have left the device. It may end a minute early (`SEEN_INTERVAL`). */
export const SESSION_IDLE_MINUTES = 30;
/** A session in use: a working day, then the password is required again. */
export const MAX_SESSION_HOURS = 12;

/** A consent form: time to read it twice. A later one is shown again. */
export const CONSENT_FORM_MS = 15 * MINUTE_MS;
/** Allow or Reject, from the press to its confirmation; its receipt, from then on, as long again. */
export const CONFIRMATION_MS = 15 * MINUTE_MS;
/** Any other form of a session: as long as the longest session, whose end decides. */
export const SESSION_FORM_MS = MAX_SESSION_HOURS * 60 * MINUTE_MS;
/** A sign-in form: a page left open over a night or a holiday weekend still works. */
export const SIGN_IN_FORM_MS = 7 * 24 * 60 * MINUTE_MS;
/** A sign-in at the OpenID provider, from leaving for it to its answer. */
export const PROVIDER_SIGN_IN_MS = 10 * MINUTE_MS;

/** A browser that has sent a right password is a known device (OWASP's device cookie), even after sign-out. */
export const KNOWN_DEVICE_SECONDS = 90 * 24 * 60 * 60;

/** A refusal that `assent explain` finds by its reference. */
export const REFUSALS_KEPT_DAYS = 7;
/** The audit trail: a token's lifetime, plus a month for investigations. */
export const AUDIT_KEPT_MONTHS = 37;

/** Tokens from this day on live 3 years, earlier ones 6 months (contract section 8). */
const LONG_LIVED_SINCE = Date.UTC(2018, 1, 7);

/**
 * Calendar arithmetic in UTC (contract sections 3 and 8): a token of 29 February ends on 28 February. PostgreSQL's `is_live`
 * does the same: a change needs a migration, and `test/store/liveGrants.test.ts` compares them.
 */
export function tokenExpiresAt(issuedAt: Date): Date {
  return monthsAfter(issuedAt, issuedAt.getTime() < LONG_LIVED_SINCE ? 6 : 36);
}

export function monthsAfter(time: Date, months: number): Date {
  const later = new Date(time);
  later.setUTCMonth(time.getUTCMonth() + months);
  // Too few days in that month: JavaScript has gone on into the next one, whose day 0 is the last of the month before.
  if (later.getUTCDate() !== time.getUTCDate()) later.setUTCDate(0);
  return later;
}

export type TokenLifetime = Readonly<ReturnType<typeof tokenLifetimeFrom>>;

/** The expiry of a token issued now, and its lifetime in days, rounded up. */
export function tokenLifetimeFrom(now: Date) {
  const expiresAt = tokenExpiresAt(now);
  return { now, expiresAt, daysLeft: daysUntil(expiresAt, now) };
}

/** Rounded up. */
export function daysUntil(end: Date, now: Date): number {
  return Math.ceil((end.getTime() - now.getTime()) / DAY_MS);
}

/** True for a day of the calendar, such as `2027-06-30`. */
export function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && new Date(text).toJSON()?.startsWith(text) === true;
}

/** The UTC day of a moment, such as `2027-06-30`. */
export const dayOf = (time: Date): string => time.toISOString().slice(0, 10);

/** The first moment after a UTC day. */
export const endOfDay = (day: string): Date => new Date(Date.parse(day) + DAY_MS);

/** Shown as expiring: time for a new authorization before the old one stops working. */
const EXPIRES_SOON_DAYS = 30;

export function expiresSoon(expiresAt: Date, now: Date): boolean {
  return expiresAt.getTime() - now.getTime() <= EXPIRES_SOON_DAYS * DAY_MS;
}

/** The `expires_in` of the token response. */
export function tokenLifetimeSeconds(issuedAt: Date): number {
  return Math.floor((tokenExpiresAt(issuedAt).getTime() - issuedAt.getTime()) / 1000);
}
