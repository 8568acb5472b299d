import { REDIRECT_URI, SCOPE } from '../../people.mjs';
import { freePort, startCommand } from '../../program.mjs';
import { installed, POOL_SIZE, run, SHOP } from './server.mjs';

/** Hydra's program: its makers' release, or `HYDRA`. */
const program = () => process.env.HYDRA ?? installed('hydra');

/** Ory Hydra behind a proxy that ends TLS; opaque tokens. Other settings are Hydra's defaults. @type {import('./server.mjs').Server} */
export const hydra = {
  version: '26.2.0',

  async prepare({ site, database, shipped }) {
    await site.createEmptyDatabase(database);
    const [port, adminPort] = [await freePort(), await freePort()];
    const { host, port: postgresPort, user } = site.postgres;
    const pool = `max_conns=${POOL_SIZE}&max_idle_conns=${POOL_SIZE}`;
    const variables = {
      DSN: `postgres://${user}@${host}:${postgresPort}/${database}?sslmode=disable&${pool}`,
      ...settings(port, adminPort),
      ...(shipped ? {} : { OAUTH2_HASHERS_PBKDF2_ITERATIONS: '1' }), // 25,000 by default, kept in each hash
    };
    run(program(), ['migrate', 'sql', 'up', '-e', '--yes'], { env: variables, stdio: 'ignore' });
    const logFile = site.file(`${database}.log`);
    const url = `http://127.0.0.1:${port}/health/ready`;
    return {
      launch: () =>
        startCommand({ command: program(), args: ['serve', 'all'], variables, logFile, port, url }),
      register: async () => {
        await register(adminPort);
        return { client: SHOP, api: SHOP, apiPort: adminPort };
      },
    };
  },
};

/** Its issuer must be https, and sign-in and consent are the load. @param {number} port @param {number} adminPort */
const settings = (port, adminPort) => ({
  SERVE_PUBLIC_HOST: '127.0.0.1',
  SERVE_PUBLIC_PORT: String(port),
  SERVE_ADMIN_HOST: '127.0.0.1',
  SERVE_ADMIN_PORT: String(adminPort),
  SERVE_TLS_ENABLED: 'false',
  URLS_SELF_ISSUER: `https://127.0.0.1:${port}`,
  URLS_LOGIN: 'http://127.0.0.1:1/login',
  URLS_CONSENT: 'http://127.0.0.1:1/consent',
  SECRETS_SYSTEM: 'a system secret of the benchmark that is long enough',
  STRATEGIES_ACCESS_TOKEN: 'opaque',
  LOG_LEVEL: 'info',
  LOG_FORMAT: 'json',
  SQA_OPT_OUT: 'true',
});

/** @param {number} adminPort */
async function register(adminPort) {
  const client = {
    client_id: SHOP.id,
    client_name: 'Shop',
    client_secret: SHOP.secret,
    redirect_uris: [REDIRECT_URI],
    grant_types: ['authorization_code'],
    response_types: ['code'],
    scope: SCOPE,
    token_endpoint_auth_method: 'client_secret_post',
  };
  const answer = await fetch(`http://127.0.0.1:${adminPort}/admin/clients`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-proto': 'https' },
    body: JSON.stringify(client),
  });
  if (answer.status !== 201) throw new Error(`Hydra refused: ${await answer.text()}`);
}
