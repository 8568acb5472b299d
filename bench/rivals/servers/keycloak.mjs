import { join } from 'node:path';
import { freePort, startCommand } from '../../program.mjs';
import { PAYMENTS, realm } from './keycloakRealm.mjs';
import { FOLDER, installed, installJava, javaHome, POOL_SIZE, run, SHOP } from './server.mjs';

const VERSION = '26.7.3';
const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy';
const HOME = `keycloak-${VERSION}`;
const BUILD = ['build', '--db=postgres', '--health-enabled=true', '--metrics-enabled=true'];
const ADMIN = { name: 'admin', password: 'a-password-of-the-benchmark' };

/** Keycloak on one node, behind TLS. @type {import('./server.mjs').Server} */
export const keycloak = {
  version: VERSION,

  install() {
    installJava();
    const artifact = `org.keycloak:keycloak-quarkus-dist:${VERSION}:zip`;
    run('mvn', ['-q', '-B', COPY, `-Dartifact=${artifact}`, `-DoutputDirectory=${FOLDER}`]);
    run('unzip', ['-q', '-o', join(FOLDER, `keycloak-quarkus-dist-${VERSION}.zip`), '-d', FOLDER]);
    run(kc(), BUILD, { env: { ...process.env, JAVA_HOME: javaHome() } });
  },

  async prepare({ site, database }) {
    await site.createEmptyDatabase(database);
    const [port, managementPort] = [await freePort(), await freePort()];
    const variables = settings(site.postgres, database, port, managementPort);
    const logFile = site.file(`${database}.log`);
    const url = `http://127.0.0.1:${managementPort}/health/ready`;
    const args = ['start', '--optimized'];
    return {
      launch: () => startCommand({ command: kc(), args, variables, logFile, port, url }),
      register: async () => {
        await register(port);
        return { client: SHOP, api: PAYMENTS, apiPort: port };
      },
    };
  },
};

const kc = () => installed(`${HOME}/bin/kc.sh`);

/** @param {import('pg').ClientConfig} postgres @param {string} database @param {number} port @param {number} managementPort */
const settings = ({ host, port: postgresPort, user }, database, port, managementPort) => ({
  JAVA_HOME: javaHome(),
  JAVA_OPTS_KC_HEAP: '-Xms512m -Xmx1g',
  KC_DB_URL: `jdbc:postgresql://${host}:${postgresPort}/${database}`,
  KC_DB_USERNAME: String(user),
  KC_DB_PASSWORD: 'none is asked',
  KC_DB_POOL_INITIAL_SIZE: POOL_SIZE,
  KC_DB_POOL_MIN_SIZE: POOL_SIZE,
  KC_DB_POOL_MAX_SIZE: POOL_SIZE,
  KC_HTTP_ENABLED: 'true',
  KC_HTTP_HOST: '127.0.0.1',
  KC_HTTP_PORT: String(port),
  KC_HTTP_MANAGEMENT_PORT: String(managementPort),
  KC_HTTP_MANAGEMENT_HOST: '127.0.0.1',
  KC_HOSTNAME: `http://127.0.0.1:${port}`,
  KC_PROXY_HEADERS: 'xforwarded',
  KC_CACHE: 'local',
  KC_BOOTSTRAP_ADMIN_USERNAME: ADMIN.name,
  KC_BOOTSTRAP_ADMIN_PASSWORD: ADMIN.password,
});

/** @param {number} port */
async function register(port) {
  const base = `http://127.0.0.1:${port}`;
  const body = new URLSearchParams({
    grant_type: 'password',
    client_id: 'admin-cli',
    username: ADMIN.name,
    password: ADMIN.password,
  });
  const token = `${base}/realms/master/protocol/openid-connect/token`;
  const answer = await fetch(token, { method: 'POST', body });
  const { access_token } = /** @type {any} */ (await answer.json());
  const made = await fetch(`${base}/admin/realms`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${access_token}` },
    body: JSON.stringify(realm()),
  });
  if (made.status !== 201) throw new Error(`Keycloak refused: ${await made.text()}`);
}
