/** From here on a token lives 3 years, before it 6 months (contract section 8). */
const LONG_LIVED_SINCE = Date.UTC(2018, 1, 7);
const LONG_LIFETIME_MONTHS = 36;
const SHORT_LIFETIME_MONTHS = 6;

/**
 * When an access token expires: 3 years after its issue, or 6 months for tokens obtained before
 * 7 February 2018 (contract sections 3 and 8). Calendar arithmetic in UTC; a day that the month does not
 * have becomes its last one, so a token of 29 February ends on 28 February.
 */
export function tokenExpiresAt(issuedAt: Date): Date {
  const months = issuedAt.getTime() < LONG_LIVED_SINCE ? SHORT_LIFETIME_MONTHS : LONG_LIFETIME_MONTHS;
  const expiresAt = new Date(issuedAt);
  expiresAt.setUTCMonth(issuedAt.getUTCMonth() + months);
  // Too few days in that month: JavaScript has run over into the next one, day 0 is the last of the month before.
  if (expiresAt.getUTCDate() !== issuedAt.getUTCDate()) expiresAt.setUTCDate(0);
  return expiresAt;
}

/** Lifetime of a token in whole seconds, the `expires_in` of the token response. */
export function tokenLifetimeSeconds(issuedAt: Date): number {
  return Math.floor((tokenExpiresAt(issuedAt).getTime() - issuedAt.getTime()) / 1000);
}
