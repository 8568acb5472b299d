/** Conditions that no row may meet, of rows that are read once for all of them. */
export interface Source<Name extends string> {
  /** What is read, in SQL: behind `from`. */
  readonly from: string;
  /** What names a row to an operator: no secret. */
  readonly id: string;
  readonly broken: Readonly<Record<Name, string>>;
}

/** What came of a condition. */
export interface Broken<Name extends string = string> {
  readonly name: Name;
  readonly rows: number;
  /** One of them; null when there is none. */
  readonly example: string | null;
}

/** A clock may be set back by so much: times of two rows are compared with that in mind. */
export const CLOCK_MARGIN = `interval '5 minutes'`;

const isLetter = (byte: string) => `${byte} between 33 and 126`;

/** Of a digest: not 32 bytes, or all of them letters, as of a text that was stored instead (by chance: 1 of 10^14). */
export const isNoDigest = (digest: string) => `(octet_length(${digest}) <> 32
  or ${isLetter(`get_byte(${digest}, 0)`)} and ${isLetter(`get_byte(${digest}, 31)`)} and encode(${digest}, 'escape') ~ '^[!-\\[\\]-~]*$')`;

/** Of a text: it has the beginning and length of a code or token (`secrets/tokens.ts`). */
export const hasToken = (text: string) =>
  `(strpos(${text}, 'assent_a') > 0 and ${text} ~ 'assent_a[ct]_[A-Za-z0-9_-]{64}')`;
