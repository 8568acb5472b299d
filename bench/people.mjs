import { createHash, randomBytes } from 'node:crypto';
import { sha256 } from '../dist/secrets/digest.js';
import { deriveGrantId, formatToken } from '../dist/secrets/tokens.js';

/**
 * The users of the benchmark's databases: numbered, each with one grant for every client. Everything about them
 * follows from their numbers, here and in the SQL of `fill.mjs` and `pgbench/`: no list of ten million is needed.
 */
export const CLIENTS = 10;
export const REDIRECT_URI = 'https://shop.example/callback';
export const SCOPE = 'account-info operation-history';

/** The password of all users. */
export const PASSWORD = 'the right password';
/** @param {number} user */
export const loginOf = (user) => `user-${user}`;
/** @param {number} user */
const userIdOf = (user) => uuidOf(`user ${user}`);
/** @param {number} client */
export const clientIdOf = (client) => md5(`client ${client}`);
/** @param {number} client */
export const clientSecretOf = (client) => md5(`secret of client ${client}`);

/** The only resource server. */
export const RESOURCE = { id: 'bench-resource', secret: md5('secret of the resource') };

/** Equals PostgreSQL's `md5`, so SQL can compute the same values. @param {string} text */
function md5(text) {
  return createHash('md5').update(text).digest('hex');
}

/** @param {string} text */
function uuidOf(text) {
  return md5(text).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** A grant by its number, from 0. @param {number} number */
export function grantOf(number) {
  const user = Math.floor(number / CLIENTS) + 1;
  const client = number % CLIENTS;
  return {
    user,
    client,
    userId: userIdOf(user),
    grantId: deriveGrantId(userIdOf(user), clientIdOf(client), null),
  };
}

/**
 * Numbers of `count` different grants out of `grants`, unordered.
 *
 * @param {number} grants @param {number} count @returns {number[]}
 */
export function anyOf(grants, count) {
  if (count === grants) return shuffled(Array.from({ length: grants }, (_, number) => number));
  const chosen = /** @type {Set<number>} */ (new Set());
  while (chosen.size < count) chosen.add(Math.floor(Math.random() * grants));
  return [...chosen];
}

/** @param {number[]} numbers */
function shuffled(numbers) {
  for (let last = numbers.length - 1; last > 0; last -= 1) {
    const other = Math.floor(Math.random() * (last + 1));
    [numbers[last], numbers[other]] = [numbers[other] ?? 0, numbers[last] ?? 0];
  }
  return numbers;
}

/**
 * A fresh code or token of a grant, in the product's own form, and its stored hash.
 *
 * @param {'code' | 'token'} kind @param {{ grantId: string }} grant
 */
export function freshBearer(kind, { grantId }) {
  const secret = randomBytes(32);
  const bearer = formatToken(kind, { grantId, userSlot: secret.readUInt8() }, secret);
  return { bearer, hash: sha256(bearer) };
}

/** A grant's initial token, and its stored hash. @param {{ grantId: string }} grant */
export function firstTokenOf({ grantId }) {
  const id = Buffer.from(grantId.replaceAll('-', ''), 'hex');
  const secret = createHash('sha256').update(id).digest();
  const bearer = formatToken('token', { grantId, userSlot: secret.readUInt8() }, secret);
  return { bearer, hash: sha256(bearer) };
}

/** {@link firstTokenOf} in SQL. @param {string} grantId */
export const FIRST_TOKEN = (grantId) =>
  `'assent_at_' || translate(encode(uuid_send(${grantId}) || sha256(uuid_send(${grantId})), 'base64'), '+/', '-_')`;

/**
 * The common start of a grant's token and code after their prefixes: 21 letters hold 126 of its 128 bits.
 *
 * @param {string} code
 */
export function startOfToken(code) {
  return `assent_at_${code.slice('assent_ac_'.length, 'assent_ac_'.length + 21)}`;
}
