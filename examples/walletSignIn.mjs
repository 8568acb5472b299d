// A wallet with its own users and no OpenID Connect: with these four routes users of Assent sign in at it.
// Needs `npm install jose`, and ISSUER (its own address), CLIENT_ID, CLIENT_SECRET, BASE_URL (of Assent), PORT.

import { createHash, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, BASE_URL, PORT } = process.env;
const REDIRECT_URI = `${BASE_URL}/oauth/sign-in/callback`;
const { privateKey, publicKey } = await generateKeyPair('RS256'); // keep yours: a restart must not change it
const codes = new Map(); // where all your servers find them, for a minute

// The wallet's own: its users and its sign-in page. A page that uses your session must ask again if `prompt` is login.
const USERS = {
  anna: { sub: '1001', name: 'Anna Petrova', password: 'gQ7-anna-4x2Lw' },
  boris: { sub: '1002', name: 'Boris Ivanov', password: 'Tn3-boris-9k6Zd' },
};
const PAGE = `<form method="post"><input name="login"><input name="password" type="password">
<button>Sign in</button><button name="cancel" value="yes">Cancel</button></form>`;

// A payment to confirm: whom and how much, above the password. docs/operate/moving-in.md#what-its-page-shows
const PAYMENT = 'payment_authorization';
const escaped = (text) => String(text).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt()};`);
const sumOf = ({ amount, currency, period_days: days }) =>
  `${currency} ${amount} ${days ? `in any ${days} days` : 'once'}`;
const payeeOf = ({ right, target }) => (target ? `to ${target}` : `by ${right}`);
const detailsIn = (query) => {
  try {
    return JSON.parse(query.get('authorization_details'))?.filter(({ type }) => type === PAYMENT);
  } catch {
    return null; // not made by Assent
  }
};
const linesOf = ({ client_name, limits = [], ...total }) => [
  `${client_name} may spend up to ${sumOf(total)}`,
  ...limits.map((one) => `${payeeOf(one)}: ${sumOf(one)}`),
];
const pageFor = (details) =>
  (details ?? [])
    .flatMap(linesOf)
    .map((line) => `<p>${escaped(line)}</p>`)
    .join('') + PAGE;

const routes = {
  'GET /.well-known/openid-configuration': () => ({
    issuer: ISSUER,
    authorization_endpoint: `${ISSUER}/authorize`,
    token_endpoint: `${ISSUER}/token`,
    jwks_uri: `${ISSUER}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    authorization_details_types_supported: [PAYMENT],
  }),
  'GET /jwks': async () => ({
    keys: [{ ...(await exportJWK(publicKey)), kid: '1', alg: 'RS256', use: 'sig' }],
  }),
  'GET /authorize': (query) => pageFor(detailsIn(query)),
  'POST /authorize': (query, form) => {
    const isAssent = query.get('client_id') === CLIENT_ID && query.get('redirect_uri') === REDIRECT_URI;
    if (!isAssent) return 'This sign-in was not asked for by Assent.'; // never to another address
    const login = form.get('login');
    const user = USERS[login];
    const isRight = user !== undefined && user.password === form.get('password');
    const details = detailsIn(query);
    if (!isRight && !form.has('cancel')) return pageFor(details);
    const code = randomUUID();
    const acr = query.get('acr_values') === 'payment' ? 'payment' : 'login'; // the password was typed just now
    const challenge = query.get('code_challenge');
    const at = Math.floor(Date.now() / 1000);
    codes.set(code, { user, login, acr, challenge, at, details, nonce: query.get('nonce') });
    const answer = form.has('cancel') ? { error: 'access_denied' } : { code };
    return new URL(
      `${REDIRECT_URI}?${new URLSearchParams({ ...answer, state: query.get('state'), iss: ISSUER })}`,
    );
  },
  'POST /token': async (_query, form, { authorization }) => {
    const basic = Buffer.from(authorization?.split(' ')[1] ?? '', 'base64').toString();
    const isClient = new URLSearchParams(basic.replace(':', '=')).get(CLIENT_ID) === CLIENT_SECRET;
    const given = codes.get(form.get('code'));
    codes.delete(form.get('code')); // each code once
    const verifier = createHash('sha256').update(form.get('code_verifier') ?? '');
    const isAssent = isClient && given?.challenge === verifier.digest('base64url');
    if (!isAssent) return { error: 'invalid_grant' };
    const { user, login, acr, at: auth_time, nonce, details } = given;
    const claims = { name: user.name, preferred_username: login, acr, auth_time, nonce };
    if (details) claims.authorization_details = details; // with the hash of what was confirmed
    const id_token = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid: '1' })
      .setIssuer(ISSUER)
      .setSubject(user.sub)
      .setAudience(CLIENT_ID)
      .setIssuedAt()
      .setExpirationTime('1m')
      .sign(privateKey);
    return { access_token: randomUUID(), token_type: 'Bearer', expires_in: 60, id_token };
  },
};

createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(ISSUER + request.url);
  const route = routes[`${request.method} ${pathname}`] ?? (() => 'Not found.');
  const answer = await route(searchParams, new URLSearchParams(await text(request)), request.headers);
  if (answer instanceof URL) return response.writeHead(302, { location: answer.href }).end();
  if (typeof answer === 'string') return response.writeHead(200, { 'content-type': 'text/html' }).end(answer);
  return response
    .writeHead('error' in answer ? 400 : 200, { 'content-type': 'application/json' })
    .end(JSON.stringify(answer));
}).listen(Number(PORT), 'localhost');
