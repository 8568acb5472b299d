// @ts-check

// Password hashes by their form, ours and other services'. Pure: reading one loads no native code.

/** A hash decides what its check costs us: this memory at most, and about a second. */
export const MAX_MEMORY_BYTES = 128 * 2 ** 20;

/** @param {string} head @param {string} letters @returns a form with salts of 8 to 64 bytes and keys of 16 to 64 */
const phc = (head, letters = 'A-Za-z0-9+/') =>
  new RegExp(`^\\$${head}\\$(?<salt>[${letters}]{11,86})\\$(?<key>[${letters}]{22,86})$`);

/**
 * What we read; `readable_form` in migrations/0001_schema.sql is the same in SQL. A check that is `costly` takes longer than bcrypt 12, and
 * one of `bytes` that much memory. Bcrypt has four and two bits in its last letters. Passlib leaves names out.
 * @typedef {{ allowed: boolean, costly: boolean, bytes?: number, comparedBytes?: number }} Cost
 * @type {Readonly<Record<string, readonly [RegExp, (numbers: Record<string, number>) => Cost]>>}
 */
const FORMS = {
  argon2: [
    phc('argon2(?:d|i|id)\\$v=(?:16|19)\\$m=(?<m>[1-9]\\d{0,5}),t=(?<t>[1-9]\\d{0,5}),p=(?<p>[1-9]\\d?)'),
    ({ m = 0, t = 0, p = 0 }) => ({
      allowed: p <= 16 && m >= 8 * p && 1024 * m <= MAX_MEMORY_BYTES && m * t <= 2 ** 20,
      costly: m * t > 2 ** 19,
      bytes: 1024 * m,
    }),
  ],
  bcrypt: [
    /^\$2[aby]\$(?<cost>\d\d)\$[A-Za-z0-9./]{21}[.Oeu][A-Za-z0-9./]{30}[.CGKOSWaeimquy26]$/,
    ({ cost = 0 }) => ({ allowed: cost >= 4 && cost <= 14, costly: cost > 12, comparedBytes: 72 }),
  ],
  pbkdf2: [
    phc('pbkdf2-sha(?<bits>256|512)\\$(?:i=)?(?<i>[1-9]\\d{0,6})(?:,l=(?<l>\\d\\d))?', 'A-Za-z0-9+/.'),
    ({ i = 0 }) => ({ allowed: i <= 2_000_000, costly: i > 600_000 }),
  ],
  scrypt: [
    phc('scrypt\\$ln=(?<ln>[1-9]\\d?),r=(?<r>[1-9]\\d{0,4}),p=(?<p>[1-9]\\d?)', 'A-Za-z0-9+/.'),
    ({ ln = 0, r = 0, p = 0 }) => ({
      // RFC 7914, section 2: N is less than 2^(128 * r / 8).
      allowed: p <= 16 && ln < 16 * r && 128 * 2 ** ln * r * p <= MAX_MEMORY_BYTES,
      costly: 128 * 2 ** ln * r * p > 80 * 2 ** 20,
      bytes: 128 * r * (2 ** ln + p),
    }),
  ],
};

/** What Spring Security and Django write before a hash of another's form. */
const LABEL = /^(?:\{(?:argon2|bcrypt)(?:@\w+)?\}(?=\$)|argon2(?=\$argon2)|bcrypt\$(?=\$2))/;

/** Django's own form, which has the salt as text. */
const DJANGO = /^pbkdf2_(sha\d+\$\d+\$)([^$]+)\$([^$=]+)={0,2}$/;

/** True for our own form. `hash_form` in migrations/0001_schema.sql has the same text. @param {string} hash */
export const isOwn = (hash) => hash.startsWith('$argon2id$v=19$m=19456,t=2,p=1$');

/** What to store of a given hash and what its check needs, or a `problem`, which never contains it. @param {string} given */
export function readHash(given) {
  const hash = given
    .replace(LABEL, '')
    .replace(DJANGO, (_, head, salt, key) => `$pbkdf2-${head}${base64(Buffer.from(salt))}$${key}`);
  for (const [algorithm, [pattern, costOf]] of Object.entries(FORMS)) {
    const groups = pattern.exec(hash)?.groups;
    if (groups === undefined) continue;
    const numbers = Object.fromEntries(Object.entries(groups).map(([name, text]) => [name, Number(text)]));
    const { allowed, costly, bytes = 0, comparedBytes = Infinity } = costOf(numbers);
    if (!allowed) return { problem: `its ${algorithm} cost is too high or too low` };
    const [salt, key] = [bytesOf(groups.salt), bytesOf(groups.key)];
    const isWhole = salt.length * key.length > 0 && key.length % 4 === 0; // as in all forms
    if (algorithm === 'bcrypt' || (isWhole && (numbers.l || key.length) === key.length))
      return { hash, algorithm, numbers, salt, key, costly, bytes, comparedBytes };
  }
  return { problem: 'its form is unknown, or it is truncated' };
}

/** @param {Buffer} bytes */
const base64 = (bytes) => bytes.toString('base64').replace(/=+$/, '');

/** @param {string} text base64 with passlib's `.` for `+` @returns none for what no encoder writes, but a cut can leave */
function bytesOf(text = '') {
  const usual = text.replaceAll('.', '+');
  const bytes = Buffer.from(usual, 'base64');
  return base64(bytes) === usual ? bytes : Buffer.alloc(0);
}
