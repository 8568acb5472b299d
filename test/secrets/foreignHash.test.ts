import { hashSync } from '@node-rs/bcrypt';
import { describe, expect, it } from 'vitest';
import { isOwn, readHash } from '../../src/secrets/foreignHash.js';
import { hash, verify, verifyHash } from '../../src/secrets/passwordThread.js';
import { ownDatabase } from '../support/postgres/database.ts';
import { countChecks } from './counting.ts';
import file from './foreignHashes.json' with { type: 'json' };

/** The hash that an import stores. */
function stored(given: string): string {
  const read = readHash(given);
  if ('problem' in read) throw new Error(read.problem);
  return read.hash;
}

it.each(file.vectors)(
  'an imported hash accepts its password only, also if that was hashed in NFC and is typed in NFD: $password, $origin, $made',
  ({ given, password }) => {
    const read = stored(given);
    expect(isOwn(read)).toBe(false);
    for (const typed of new Set([password, password.normalize('NFD')]))
      expect(verifyHash(read, typed)).toBe(true);
    const composed = password.normalize('NFC');
    const wrong = composed === password ? password.toUpperCase() : composed;
    expect(verifyHash(read, wrong)).toBe(false);
  },
);

const SALT = 'c29tZXNhbHRzb21lc2FsdA';
const KEY = 'A'.repeat(43);

const argon2 = (m: number, t: number, p: number, v = 19) =>
  `$argon2id$v=${v}$m=${m},t=${t},p=${p}$${SALT}$${KEY}`;
const bcrypt = (cost: string, letter = 'b') => `$2${letter}$${cost}$${'a'.repeat(21)}u${'a'.repeat(31)}`;
const scrypt = (ln: number, r: number, p: number) => `$scrypt$ln=${ln},r=${r},p=${p}$${SALT}$${KEY}`;
const django = (i: number) => `pbkdf2_sha256$${i}$saltsalt$${KEY}=`;
const pbkdf2 = (i: number) => [
  `$pbkdf2-sha256$i=${i},l=32$${SALT}$${KEY}`,
  `$pbkdf2-sha256$${i}$${SALT}$${KEY}`,
];

const ACCEPTED = [
  ...[argon2(131_072, 8, 1), argon2(8, 1, 1), argon2(128, 8_192, 16), argon2(19_456, 2, 1)],
  ...[bcrypt('04'), bcrypt('14'), bcrypt('10', 'a'), bcrypt('10', 'y')],
  ...[scrypt(17, 8, 1), scrypt(16, 8, 2), scrypt(1, 1, 16), scrypt(15, 1, 1)],
  ...[...pbkdf2(1), ...pbkdf2(2_000_000)],
];

it.each(ACCEPTED)('a hash within the cost limits is accepted: %s', (given) => {
  expect(readHash(given)).toMatchObject({ hash: given });
});

const bytes = (count: number) => Buffer.alloc(count, 0xfb).toString('base64').replace(/=+$/, '');

it.each(['$argon2id$v=19$m=64,t=1,p=1', '$scrypt$ln=2,r=1,p=1', '$pbkdf2-sha256$i=1'])(
  'a hash with salt and key of any length rejects a wrong password: %s',
  (form) => {
    for (const salt of [8, 16, 47, 48, 49, 64])
      for (const key of [16, 20, 32, 60, 64])
        expect(verifyHash(`${form}$${bytes(salt)}$${bytes(key)}`, 'wrong'), `${salt}, ${key}`).toBe(false);
  },
);

const TOO_COSTLY = [
  ...[argon2(131_073, 1, 1), argon2(131_072, 9, 1), argon2(1_024, 1, 17)],
  ...[argon2(1_024, 0, 1), argon2(7, 1, 1)],
  ...[bcrypt('03'), bcrypt('15'), bcrypt('31'), bcrypt('00')],
  ...[scrypt(18, 8, 1), scrypt(17, 8, 2), scrypt(10, 8, 17), scrypt(0, 8, 1), scrypt(99, 1, 1)],
  scrypt(16, 1, 1), // beyond what RFC 7914 allows for r=1: the library would not compute
  ...[0, 2_000_001, 99_999_999_999].flatMap((i) => [...pbkdf2(i), django(i)]),
];

it.each([
  ['bcrypt', bcrypt('12'), 0, 72, false],
  ['bcrypt above cost 12', bcrypt('13'), 0, 72, true],
  ['argon2', argon2(131_072, 4, 1), 128, Infinity, false],
  ['argon2 above 512 MiB in all passes', argon2(102_400, 6, 8), 100, Infinity, true],
  ['PBKDF2', django(600_000), 0, Infinity, false],
  ['PBKDF2 above 600,000 iterations', django(600_001), 0, Infinity, true],
  ['scrypt', scrypt(14, 8, 5), 16, Infinity, false],
  ['scrypt above 80 MiB in all lanes', scrypt(16, 8, 2), 64, Infinity, true],
])(
  'readHash returns the memory, the maximum password length and whether the hash is costly: %s',
  (_what, given, MiB, compared, costly) => {
    const read = { bytes: 0, ...readHash(given) };
    expect(read).toMatchObject({ comparedBytes: compared, costly });
    expect(Math.floor(read.bytes / 2 ** 20)).toBe(MiB);
  },
);

const whole = file.vectors.flatMap(({ given }) => ('hash' in readHash(given) ? [stored(given)] : []));
const UNREADABLE = [
  ...['', 'secret', '$', '{noop}secret', '{SSHA}c2VjcmV0'],
  ...['$1$salt$hash', '$5$rounds=5000$salt$hash', '$argon2id$'],
  ...[`{noop}${bcrypt('10')}`, `{bcrypt}secret`, bcrypt('10', 'x'), `${bcrypt('10')}\n`, ` ${bcrypt('10')}`],
  ...[argon2(64, 1, 1).replace('$v=19', ''), argon2(64, 1, 1, 20), `${argon2(64, 1, 1)}${'A'.repeat(50)}`],
  ...[`$pbkdf2$1000$${SALT}$${KEY}`, `pbkdf2_sha1$1000$saltsalt$${KEY}`, `pbkdf2_sha256$1000$$${KEY}`],
  `$pbkdf2-sha256$i=1000,l=64$${SALT}$${KEY}`,
  argon2(64, 1, 1).replace('c29', 'c.9'), // passlib's letter, which the library of argon2 does not read
  bcrypt('10').replace('u', 'b'), // bits that no encoder writes: the library would not even compute
  argon2(64, 1, 1).replace(/A$/, 'B'), // no encoder ends so
  scrypt(10, 8, 1).replace(SALT, SALT.replace(/A$/, 'B')),
  argon2(64, 1, 1).replace(SALT, 'c2FsdA'),
  ...[argon2(64, 1, 1).replace('m=64', 'm=064'), `${argon2(64, 1, 1)}=`],
  `$pbkdf2-sha256$i=${'0'.repeat(5_000)}1$${SALT}$${KEY}`, // too long for the index
  ...whole.map((hashed) => hashed.replace(/=+$/, '').slice(0, -1)),
];

it.each([...TOO_COSTLY, ...UNREADABLE])(
  'a bad hash is refused at import and costs nothing at sign-in: %j',
  (given) => {
    const { problem } = { problem: '', ...readHash(given) };
    expect(problem).not.toBe('');
    for (const part of [given, SALT, KEY, 'secret']) if (part.length > 1) expect(problem).not.toContain(part);
    expect(verifyHash(given, 'secret')).toBeNull();
  },
);

const LABELS = [
  ...['', '{bcrypt}', '{argon2}', '{argon2@SpringSecurity_v5_8}'],
  ...['argon2', 'bcrypt$', '{noop}', '{bcrypt@ä}', ' '],
];

/** A hash and texts that are nearly one: with a character removed, exchanged or added, or with a label. */
function around(hash: string): string[] {
  const places = Array.from({ length: 24 }, (_, n) => Math.floor((n * hash.length) / 24));
  const changed = places.flatMap((at) =>
    ['', '.', '$', 'B', '0', '\u0663'].map((letter) => hash.slice(0, at) + letter + hash.slice(at + 1)),
  );
  const cut = [1, 2, 3].map((letters) => hash.slice(0, -letters));
  return [...LABELS.map((label) => label + hash), ...changed, ...cut, `${hash}=`, `${hash}\n`, `${hash}A`];
}

it('PostgreSQL and JavaScript agree which hashes are readable and which are Assent’s own', async () => {
  const { pool } = await ownDatabase();
  const texts = ['$', 'a$b', `pbkdf2_sha256$1$соль соль$${KEY}==`, `pbkdf2_sha256$1$соль$${KEY}`];
  const given = file.vectors.map((vector) => vector.given);
  const all = [...texts, hash('of our own'), ...given, ...ACCEPTED, ...TOO_COSTLY, ...UNREADABLE].flatMap(
    around,
  );
  const { rows } = await pool.query<{ hash: string; form: string | null; own: boolean }>(
    'select hash, readable_form(hash) as form, hash_form(hash) is null as own from unnest($1::text[]) hash',
    [all],
  );
  expect(rows).toHaveLength(all.length);
  expect(rows.filter((row) => row.form !== null).length).toBeGreaterThan(500);
  expect(rows.filter((row) => (row.form !== null) !== 'hash' in readHash(row.hash))).toEqual([]);
  expect(rows.filter((row) => row.own !== isOwn(row.hash))).toEqual([]);
  for (const { hash: text, form } of rows)
    if (form !== null) expect(text.split(`${form}$`)[1], text).toMatch(/^([^$]{53}|[^$]+[$][^$]+)$/);
});

describe('the password check with decoy hashes', () => {
  const own = hash('decoy');
  const foreign = hashSync('of a user', 4);

  it('computes only the stored hash if the password is right', async () => {
    const [done] = await countChecks([{ stored: foreign, own, foreign, password: 'of a user' }]);
    expect(done).toEqual({ result: true, cost: ['bcrypt'] });
  });

  it('never accepts the password of a decoy', () => {
    for (const password of ['decoy', 'of a user'])
      expect(verify({ stored: null, password, own, foreign })).toBeNull();
  });
});
