/** What may be wrong on purpose, and the rule by which the report must show it. */
export const PLANTED = {
  /** Tokens are accepted for a day too long. */
  longTokens: 'what a token opens',
  /** No partition of the audit trail is made after the first migration. */
  noPartitions: 'doctor',
  /** One server never reads the rotated `SECRETS`. */
  staleSecrets: 'what a person can do',
  /** `assent notify` does not run for a month. */
  silentMonth: 'what is told',
} as const;

export type Fault = keyof typeof PLANTED;
