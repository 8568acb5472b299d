/**
 * The comparison for Assent's whole flow: node-oidc-provider in production mode on the same PostgreSQL, set up to do the
 * least that an equal flow allows. Its client is in memory, it queries no users, it issues opaque access tokens and no ID
 * token, it keeps no audit trail, and it logs nothing.
 *
 * The flow of a signed-in browser: authorization request → 303 to the interaction → consent page → confirm → 303 back →
 * 303 to the application with a code → token request. Signing in comes before and is not measured.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import Provider from 'oidc-provider';
import pg from 'pg';
import { plainAdapter, prepareTable } from './adapter.mjs';
import { interactions } from './interactions.mjs';

const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;

const { DATABASE_URL, PORT, POOL_SIZE, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, SCOPE } = process.env;
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: Number(POOL_SIZE) });
await prepareTable(pool);

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const provider = new Provider(`http://127.0.0.1:${PORT}`, {
  adapter: plainAdapter(pool),
  clients: [
    {
      client_id: CLIENT_ID,
      client_secret: CLIENT_SECRET,
      redirect_uris: [REDIRECT_URI],
      grant_types: ['authorization_code'],
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_post',
    },
  ],
  findAccount: async (_context, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
  scopes: SCOPE.split(' '),
  pkce: { required: () => false },
  features: { devInteractions: { enabled: false }, introspection: { enabled: true } },
  interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
  cookies: { keys: [randomBytes(32).toString('hex')] },
  jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig' }] },
  ttl: {
    AccessToken: 3 * 365 * DAY,
    AuthorizationCode: MINUTE,
    Grant: 3 * 365 * DAY,
    Interaction: 15 * MINUTE,
    Session: DAY,
  },
});

const authorize = provider.callback();
const interact = interactions(provider);
const server = createServer((request, response) => {
  if (request.url === '/health/ready') return response.end('ok');
  return request.url.startsWith('/interaction/') ? interact(request, response) : authorize(request, response);
});
server.listen(Number(PORT), '127.0.0.1');

process.on('SIGTERM', async () => {
  server.close();
  server.closeAllConnections();
  await pool.end();
});
