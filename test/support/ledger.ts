import { randomBytes } from 'node:crypto';

/** The kinds of secrets: a leak is told by its kind, never by its value. */
export const KINDS = [
  'access token',
  'client secret',
  'code',
  'code verifier',
  'form token',
  'password',
  'payment password',
  'resource secret',
  'session cookie',
  'signing secret',
  'visit cookie',
] as const;
/** The others occur in some tests only. */
export type Kind =
  | (typeof KINDS)[number]
  | 'database password'
  | 'metrics token'
  | 'operator token'
  | 'sign-in secret';

/** Shorter texts occur by chance. All our secrets are at least as long. */
const MIN_SECRET = 12;
/** Codes and tokens are known by their beginning, also without having been noted. */
const BEARER = /assent_a[ct]_[\w-]/;
/** Words, or one letter again and again, also occur without a leak. */
const WORDS = /^\p{L}\p{Ll}+$|^\p{L}+,? \p{L}+$|\p{L},? \p{L}{2,},? \p{L}/u;
const MIN_LETTERS = 6;
const PREFIX = /^assent_(a[ct]|op)_/;
const SHOWN_LENGTH = 80;

interface Needle {
  readonly kind: Kind;
  readonly how: string;
  readonly text: string;
}

/** The secrets of a file's tests: logs, metrics and rows may contain only their hashes. */
export class Ledger {
  readonly #noted = new Map<string, Kind>();
  /** By their first letters, so that a megabyte of log is read once and not once for each secret. */
  readonly #needles = new Map<string, Map<string, Needle>>();

  /** Forgets everything: the next file may write down the secrets of the previous one. */
  beginAnew(): void {
    this.#noted.clear();
    this.#needles.clear();
  }

  /** The first kind that is noted for a secret stays. @throws {Error} when it could occur by chance */
  note(kind: Kind, secret: string | null | undefined): void {
    if (!secret || secret.length < MIN_SECRET || this.#noted.has(secret)) return;
    if (WORDS.test(secret) || new Set(secret.replace(PREFIX, '')).size < MIN_LETTERS)
      throw new Error(
        `A ${kind} of a test is words, or few letters again and again: take one of newSecret().`,
      );
    this.#noted.set(secret, kind);
    for (const spelling of spellingsOf(secret)) this.#add({ ...spelling, kind });
  }

  kinds(): Kind[] {
    return [...new Set(this.#noted.values())].sort();
  }

  /**
   * @param where the origin of the lines, for example "the log"
   * @returns a sentence for each line with a secret, without the secret
   */
  search(where: string, lines: readonly string[]): string[] {
    return lines.flatMap((line, index) => {
      const found = this.#firstIn(line);
      if (found === undefined) return [];
      const before = line.slice(Math.max(0, found.at - SHOWN_LENGTH), found.at);
      return [`${found.kind}, ${found.how}, in line ${index + 1} of ${where}: …${before}(here)`];
    });
  }

  #add(needle: Needle): void {
    if (needle.text.length < MIN_SECRET) return;
    const beginning = needle.text.slice(0, MIN_SECRET);
    const others = this.#needles.get(beginning) ?? new Map<string, Needle>();
    if (!others.has(needle.text)) this.#needles.set(beginning, others.set(needle.text, needle));
  }

  #firstIn(line: string): { at: number; kind: string; how: string } | undefined {
    const bearer = line.search(BEARER);
    if (bearer >= 0) return { at: bearer, kind: 'code or access token', how: 'as it is' };
    for (let at = 0; at + MIN_SECRET <= line.length; at += 1) {
      const needles = this.#needles.get(line.slice(at, at + MIN_SECRET));
      const needle = needles && [...needles.values()].find(({ text }) => line.startsWith(text, at));
      if (needle !== undefined) return { at, ...needle };
    }
    return undefined;
  }
}

/** A secret of the tests where any will do, also a password: 43 characters, as a code verifier has. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

export function refuse(findings: readonly string[]): void {
  if (findings.length === 0) return;
  const shown = findings.slice(0, 10).map((finding) => `\n  ${finding}`);
  throw new Error(`${findings.length} lines tell a secret:${shown.join('')}`);
}

export const ledger = new Ledger();

// A part of a secret is a leak, too: every 19 characters in a row contain one of these pieces.
const PIECE_LENGTH = 16;
const PIECE_STEP = 4;
const PIECE_BYTES = 12;

/** Forms of a secret, or of a part of it, in a log, a metric or a row: as it is, encoded, or its bytes. */
function spellingsOf(secret: string): Omit<Needle, 'kind'>[] {
  const beginning = secret.slice(0, PIECE_LENGTH);
  const end = bytesBehind(secret).subarray(-PIECE_BYTES);
  return [
    ...piecesOf(secret).map((text) => ({ how: 'as it is', text })),
    { how: 'in lower case', text: beginning.toLowerCase() },
    { how: 'percent-encoded', text: encodeURIComponent(beginning) },
    { how: 'percent-encoded', text: new URLSearchParams([['', beginning]]).toString().slice(1) },
    { how: 'escaped', text: JSON.stringify(beginning).slice(1, -1) },
    ...base64Of(beginning).map((text) => ({ how: 'in base64', text })),
    ...[Buffer.from(beginning), end].flatMap((bytes) => [
      { how: 'in hex', text: bytes.toString('hex') },
      // As `console.log` and `JSON.stringify` show a Buffer.
      { how: 'as a list of bytes', text: (bytes.toString('hex').match(/../g) ?? []).join(' ') },
      { how: 'as a list of bytes', text: bytes.join(',') },
    ]),
  ];
}

function piecesOf(secret: string): string[] {
  const steps = Math.max(0, Math.floor((secret.length - PIECE_LENGTH) / PIECE_STEP));
  return Array.from({ length: steps + 1 }, (_, step) => secret.substr(step * PIECE_STEP, PIECE_LENGTH));
}

/** The bytes of a secret: client secrets are hex, all others base64url. */
function bytesBehind(secret: string): Buffer {
  const text = secret.replace(/^assent_a[ct]_/, '');
  return Buffer.from(text, /^[0-9a-f]+$/.test(text) ? 'hex' : 'base64url');
}

/** The letters of a text in both kinds of base64 that don’t depend on its neighbours, as in HTTP Basic. */
function base64Of(text: string): string[] {
  const bytes = Buffer.from(text);
  return [0, 1, 2].flatMap((begin) => {
    const whole = bytes.subarray(begin, bytes.length - ((bytes.length - begin) % 3));
    return [whole.toString('base64'), whole.toString('base64url')];
  });
}
