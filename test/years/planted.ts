/** What is compared, see `README.md`. */
export type Rule = 'what a token opens' | 'what a person can do' | 'what is told' | 'doctor';

interface Planted {
  /** By which it must be found. */
  readonly rule: Rule;
  /** It shows in the last of these, at the latest. */
  readonly months: number;
}

/** What may be wrong on purpose. */
export const PLANTED = {
  /** PostgreSQL accepts tokens for a day too long. */
  longTokens: { rule: 'what a token opens', months: 37 },
  /** No partition of the audit trail is made after the first migration. */
  noPartitions: { rule: 'doctor', months: 14 },
  /** One server never reads the rotated `SECRETS`. */
  staleSecrets: { rule: 'what a person can do', months: 3 },
  /** `assent notify` does not run for a month. */
  silentMonth: { rule: 'what is told', months: 3 },
} as const satisfies Readonly<Record<string, Planted>>;

export type Fault = keyof typeof PLANTED;

export const PEOPLE_IF_PLANTED = 200;
