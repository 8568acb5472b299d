import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What is compared, see `README.md`. */
export type Rule =
  | 'what a token opens'
  | 'what a person can do'
  | 'what is told'
  | 'doctor'
  | 'alerts'
  | 'disk';

interface Planted {
  /** By which it must be found. */
  readonly rule: Rule;
  /** It shows in the last of these, at the latest. */
  readonly months: number;
  /** Its first month. */
  readonly begin: string;
}

/** What may be wrong on purpose. */
export const PLANTED = {
  /** Servers and PostgreSQL accept tokens for a day too long; `exp` says it in the first month. */
  longTokens: { rule: 'what a token opens', months: 1, begin: '2026-12' },
  /** `assent maintain` runs as the servers' role, so no partition of the audit trail is made until the next migration. */
  noPartitions: { rule: 'doctor', months: 12, begin: '2028-06' },
  /** One server never reads the rotated `SECRETS`. */
  staleSecrets: { rule: 'what a person can do', months: 3, begin: '2026-12' },
  /** `assent notify` does not run for a month. */
  silentMonth: { rule: 'what is told', months: 3, begin: '2026-12' },
} as const satisfies Readonly<Record<string, Planted>>;

export type Fault = keyof typeof PLANTED;

export const PEOPLE_IF_PLANTED = 200;

const LIFETIME = 'issuedAt.getTime() < LONG_LIVED_SINCE ? 6 : 36);';

/** Makes a build whose tokens live a day longer. @throws {Error} if it has another source than expected */
export function lengthenTokens(folder: string): void {
  const file = join(folder, 'dist/rules/common/lifetimes.js');
  const parts = readFileSync(file, 'utf8').split(`return monthsAfter(issuedAt, ${LIFETIME}`);
  if (parts.length !== 2) throw new Error(`${file} has no such line`);
  writeFileSync(
    file,
    parts.join(`return new Date(+monthsAfter(issuedAt, ${LIFETIME.slice(0, -1)} + 86_400_000);`),
  );
}

/** The same in PostgreSQL. */
export const LONG_TOKENS_SQL = `create or replace function is_live(code_expires_at timestamptz, token_issued_at timestamptz, revoked_at timestamptz)
  returns boolean language sql stable return revoked_at is null and case when token_issued_at is null then code_expires_at > clock_timestamp()
    else (token_issued_at at time zone 'UTC' + interval '36 months') at time zone 'UTC' + interval '1 day' > clock_timestamp() end`;
