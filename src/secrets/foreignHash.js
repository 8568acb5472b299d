// @ts-check

// Password hashes by their form, ours and other services'. Pure: reading one loads no native code.

/** How our own hashes begin. `hash_form` in migrations/0020_moving_in.sql has the same text. */
export const OWN = '$argon2id$v=19$m=19456,t=2,p=1$';

/** A hash decides what its check costs us: this memory at most, and about a second. */
export const MAX_BYTES = 128 * 2 ** 20;

const NONE = { m: 0, t: 0, p: 0, cost: 0, bits: 0, i: 0, l: 0, ln: 0, r: 0 };

/** What precedes salt and key; of bcrypt all, with four and two bits in the last letters. Passlib leaves names out. */
const FORMS = /** @type {const} */ ([
  ['argon2', /^\$argon2(?:d|i|id)\$v=(?:16|19)\$m=(?<m>[1-9]\d{0,5}),t=(?<t>[1-9]\d{0,5}),p=(?<p>[1-9]\d?)$/],
  ['bcrypt', /^\$2[aby]\$(?<cost>\d\d)\$[A-Za-z0-9./]{21}[.Oeu][A-Za-z0-9./]{30}[.CGKOSWaeimquy26]$/],
  ['pbkdf2', /^(?:\$pbkdf2-|pbkdf2_)sha(?<bits>256|512)\$(?:i=)?(?<i>[1-9]\d{0,6})(?:,l=(?<l>\d\d))?$/],
  ['scrypt', /^\$scrypt\$ln=(?<ln>[1-9]\d?),r=(?<r>[1-9]\d{0,4}),p=(?<p>[1-9]\d?)$/],
]);

/** @type {Readonly<Record<typeof FORMS[number][0], (numbers: typeof NONE) => boolean>>} */
const BOUNDS = {
  argon2: ({ m, t, p }) => isIn(p, 1, 16) && isIn(m, 8 * p, 2 ** 17) && isIn(t * m, m, 8 * 2 ** 17),
  bcrypt: ({ cost }) => isIn(cost, 4, 14),
  pbkdf2: ({ i }) => isIn(i, 1, 2_000_000),
  // RFC 7914, section 2: N is less than 2^(128 * r / 8).
  scrypt: ({ ln, r, p }) =>
    isIn(ln, 1, 16 * r - 1) && isIn(p, 1, 16) && isIn(128 * 2 ** ln * r * p, 1, MAX_BYTES),
};

/** @type {(value: number, min: number, max: number) => boolean} */
const isIn = (value, min, max) => value >= min && value <= max;

/** @param {string} hash */
export const isOwn = (hash) => hash.startsWith(OWN);

/** What a check of it needs, or a `problem`, which never contains the hash. @param {string} hash as stored */
export function parseHash(hash) {
  const [, form = '', salt = '', key = ''] = /^(.+)\$([^$]+)\$([^$]+)$/.exec(hash) ?? [];
  for (const [algorithm, pattern] of FORMS) {
    const groups = pattern.exec(algorithm === 'bcrypt' ? hash : form)?.groups;
    if (groups === undefined) continue;
    const given = Object.entries(groups).map(([name, value]) => [name, Number(value ?? 0)]);
    const numbers = { ...NONE, ...Object.fromEntries(given) };
    if (!BOUNDS[algorithm](numbers))
      return { problem: `its ${algorithm} costs more or less than is allowed` };
    const bytes = form.startsWith('pbkdf2_')
      ? djangoBytes(salt, key)
      : { salt: bytesOf(salt), key: bytesOf(key) };
    if (algorithm !== 'bcrypt' && !(isIn(bytes.salt.length, 8, 64) && isWhole(bytes.key.length, numbers.l)))
      break;
    return { problem: null, algorithm, numbers, ...bytes };
  }
  return { problem: 'it has no known form, or is cut off' };
}

/** @type {(size: number, named: number) => boolean} True for as many bytes as named; all forms have a multiple of 4. */
const isWhole = (size, named) => isIn(size, 16, 64) && size % 4 === 0 && (named || size) === size;

/** @type {(salt: string, key: string) => { salt: Buffer, key: Buffer }} */
const djangoBytes = (salt, key) => ({ salt: Buffer.from(salt), key: bytesOf(key.replace(/=+$/, '')) });

/** @param {string} base64 with passlib's `.` for `+` @returns none for what no encoder writes, but a cut can leave */
function bytesOf(base64) {
  const usual = base64.replaceAll('.', '+');
  const bytes = Buffer.from(usual, 'base64');
  return bytes.toString('base64').replace(/=+$/, '') === usual ? bytes : Buffer.alloc(0);
}

/** What Spring Security and Django write before a hash of another's form. */
const LABEL = /^(?:\{(?:argon2|bcrypt)(?:@\w+)?\}(?=\$)|argon2(?=\$argon2)|bcrypt\$(?=\$2))/;

/** For the import: what to store, or why not. @param {string} given @returns {{ hash: string } | { problem: string }} */
export function readHash(given) {
  const hash = given.replace(LABEL, '');
  const { problem } = parseHash(hash);
  return problem === null ? { hash } : { problem };
}
