import { randomBytes } from 'node:crypto';
import { sha256 } from '../dist/secrets/digest.js';
import { form } from './load/message.mjs';
import {
  anyOf,
  clientIdOf,
  clientSecretOf,
  firstTokenOf,
  freshBearer,
  grantOf,
  loginOf,
  REDIRECT_URI,
  RESOURCE,
  SCOPE,
  startOfToken,
} from './people.mjs';

/** The form of a correct token response (contract 2.5). */
export const TOKEN_SHAPE =
  /^\{"access_token":"assent_at_[\w-]{64}","token_type":"bearer","expires_in":\d+,"grant_id":"[0-9a-f-]{36}"\}$/;
const ACTIVE_SHAPE = /^\{"active":true,.*\}$/;

/** Grants as after an approval, except for the lifetime of codes: all of a round are made before it. */
const GIVE_CODES = `
update grants g
   set revision = g.revision + 1, code_hash = c.hash, code_expires_at = clock_timestamp() + interval '10 minutes',
       token_hash = null, token_issued_at = null, revoked_at = null, confirmed_at = clock_timestamp()
  from unnest($1::uuid[], $2::bytea[]) as c (grant_id, hash) where g.grant_id = c.grant_id`;
/** Most introspected tokens were issued long ago: only grants used here are written. */
const GIVE_FIRST_TOKENS_BACK = `
update grants g set token_hash = t.hash, token_issued_at = clock_timestamp(), revoked_at = null
  from unnest($1::uuid[], $2::bytea[]) as t (grant_id, hash)
 where g.grant_id = t.grant_id and (g.token_hash, g.revoked_at) is distinct from (t.hash, null)`;

/** Token requests with fresh codes. @param {import('./site.mjs').BenchDatabase} database @param {number} count */
export async function exchanges({ db, grants }, count) {
  const chosen = anyOf(grants, count).map(grantOf);
  const codes = chosen.map((grant) => freshBearer('code', grant));
  const { rowCount } = await db.query(GIVE_CODES, valuesOf(chosen, codes));
  if (rowCount !== count) throw new Error(`${count} grants were to be given codes, ${rowCount} were`);
  const items = chosen.map(({ client }, index) => {
    const code = codes[index]?.bearer ?? '';
    return { body: form({ ...tokenRequestOf(client), code }), holds: startOfToken(code) };
  });
  return { workload: 'token', path: '/oauth/token', shape: TOKEN_SHAPE, items };
}

/** Introspections of live tokens. @param {import('./site.mjs').BenchDatabase} database @param {number} count */
export async function introspections({ db, grants }, count) {
  const chosen = anyOf(grants, count).map(grantOf);
  const tokens = chosen.map(firstTokenOf);
  await db.query(GIVE_FIRST_TOKENS_BACK, valuesOf(chosen, tokens));
  const items = chosen.map(({ userId }, index) => {
    return { body: form({ token: tokens[index]?.bearer ?? '' }), holds: `"sub":"${userId}"` };
  });
  const credentials = Buffer.from(`${RESOURCE.id}:${RESOURCE.secret}`).toString('base64');
  const headers = { authorization: `Basic ${credentials}` };
  return { workload: 'token', path: '/oauth/introspect', headers, shape: ACTIVE_SHAPE, items, again: true };
}

/** @param {{ grantId: string }[]} chosen @param {{ hash: string }[]} bearers */
function valuesOf(chosen, bearers) {
  return [chosen.map(({ grantId }) => grantId), bearers.map(({ hash }) => hash)];
}

const INSERT_SESSIONS = `
insert into sessions (session_hash, user_id)
select s.hash, u.user_id from unnest($1::bytea[], $2::text[]) as s (hash, login) join users u using (login)`;

/**
 * Authorization requests of browsers that just signed in, each for a different grant.
 *
 * @param {import('./site.mjs').BenchDatabase} database @param {number} count
 */
export async function authorizations({ db, grants }, count) {
  const chosen = anyOf(grants, count).map(grantOf);
  const cookies = chosen.map(() => randomBytes(32).toString('base64url'));
  const logins = chosen.map(({ user }) => loginOf(user));
  await db.query('truncate sessions');
  await db.query(INSERT_SESSIONS, [cookies.map((cookie) => sha256(cookie)), logins]);
  const items = chosen.map(({ client }, index) => ({
    cookie: `assent_session=${cookies[index]}`,
    login: logins[index],
    query: queryOf(client),
    redirectUri: REDIRECT_URI,
    tokenRequest: tokenRequestOf(client),
  }));
  return { items, tokenShape: TOKEN_SHAPE };
}

/**
 * Wrong passwords for many logins from many networks of the range that RFC 2544 reserves for benchmarks.
 *
 * @param {{ grants: number }} database @param {number} count
 */
export function guesses({ grants }, count) {
  const items = anyOf(grants, count).map((number, index) => ({
    query: queryOf(number % 2),
    login: loginOf(grantOf(number).user),
    address: `198.${18 + (index & 1)}.${(index >> 1) & 255}.${(index >> 9) & 255}`,
  }));
  return { workload: 'signIn', items, again: true };
}

/** The canonical query of an authorization request. @param {number} client */
export function queryOf(client) {
  return form({
    client_id: clientIdOf(client),
    response_type: 'code',
    redirect_uri: REDIRECT_URI,
    scope: SCOPE,
  });
}

/** @param {number} client */
export function tokenRequestOf(client) {
  return {
    grant_type: 'authorization_code',
    client_id: clientIdOf(client),
    client_secret: clientSecretOf(client),
    redirect_uri: REDIRECT_URI,
  };
}
