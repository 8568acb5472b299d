// @ts-check

// Password hashes by their form, ours and other services'. Pure: reading one loads no native code.

/** A hash decides what its check costs us: this memory at most, and about a second. */
export const MAX_BYTES = 128 * 2 ** 20;

/** What precedes salt and key; of bcrypt all, with four and two bits in the last letters. Passlib leaves names out. */
const FORMS = /** @type {const} */ ([
  ['argon2', /^\$argon2(?:d|i|id)\$v=(?:16|19)\$m=(?<m>[1-9]\d{0,5}),t=(?<t>[1-9]\d{0,5}),p=(?<p>[1-9]\d?)$/],
  ['bcrypt', /^\$2[aby]\$(?<cost>\d\d)\$[A-Za-z0-9./]{21}[.Oeu][A-Za-z0-9./]{30}[.CGKOSWaeimquy26]$/],
  ['pbkdf2', /^\$pbkdf2-sha(?<bits>256|512)\$(?:i=)?(?<i>[1-9]\d{0,6})(?:,l=(?<l>\d\d))?$/],
  ['scrypt', /^\$scrypt\$ln=(?<ln>[1-9]\d?),r=(?<r>[1-9]\d{0,4}),p=(?<p>[1-9]\d?)$/],
]);

/** @type {Readonly<Record<typeof FORMS[number][0], (numbers: Record<string, number>) => boolean>>} */
const IS_ALLOWED = {
  argon2: ({ m = Infinity, t = Infinity, p = Infinity }) =>
    p <= 16 && m >= 8 * p && m <= 2 ** 17 && m * t <= 2 ** 20,
  bcrypt: ({ cost = Infinity }) => cost >= 4 && cost <= 14,
  pbkdf2: ({ i = Infinity }) => i <= 2_000_000,
  // RFC 7914, section 2: N is less than 2^(128 * r / 8).
  scrypt: ({ ln = Infinity, r = Infinity, p = Infinity }) =>
    p <= 16 && ln < 16 * r && 128 * 2 ** ln * r * p <= MAX_BYTES,
};

/** What Spring Security and Django write before a hash of another's form. */
const LABEL = /^(?:\{(?:argon2|bcrypt)(?:@\w+)?\}(?=\$)|argon2(?=\$argon2)|bcrypt\$(?=\$2))/;

/** Django's own form, which has the salt as text. */
const DJANGO = /^pbkdf2_(sha\d+\$\d+\$)([^$]+)\$([^$=]+)={0,2}$/;

/** True for our own form. `hash_form` in migrations/0020_moving_in.sql has the same text. @param {string} hash */
export const isOwn = (hash) => hash.startsWith('$argon2id$v=19$m=19456,t=2,p=1$');

/** What to store of a given hash, and what a check of it needs, or a `problem`, which never contains it. @param {string} given */
export function readHash(given) {
  const hash = given
    .replace(LABEL, '')
    .replace(DJANGO, (_, head, salt, key) => `$pbkdf2-${head}${base64(Buffer.from(salt))}$${key}`);
  // Salts of 8 to 64 bytes, and keys of 16 to 64.
  const [, form = '', ...encoded] = /^(.+)\$([^$]{11,86})\$([^$]{22,86})$/.exec(hash) ?? [];
  const [salt = bytesOf(''), key = bytesOf('')] = encoded.map(bytesOf);
  for (const [algorithm, pattern] of FORMS) {
    const groups = pattern.exec(algorithm === 'bcrypt' ? hash : form)?.groups;
    if (groups === undefined) continue;
    const numbers = Object.fromEntries(Object.entries(groups).map(([name, text]) => [name, Number(text)]));
    if (!IS_ALLOWED[algorithm](numbers)) return { problem: `its ${algorithm} costs too much or too little` };
    const size = numbers.l || key.length;
    const isWhole = salt.length > 0 && size > 0 && size === key.length && size % 4 === 0; // as in all forms
    if (algorithm === 'bcrypt' || isWhole) return { hash, algorithm, numbers, salt, key };
  }
  return { problem: 'it has no known form, or is cut off' };
}

/** @param {Buffer} bytes */
const base64 = (bytes) => bytes.toString('base64').replace(/=+$/, '');

/** @param {string} text base64 with passlib's `.` for `+` @returns none for what no encoder writes, but a cut can leave */
function bytesOf(text) {
  const usual = text.replaceAll('.', '+');
  const bytes = Buffer.from(usual, 'base64');
  return base64(bytes) === usual ? bytes : Buffer.alloc(0);
}
