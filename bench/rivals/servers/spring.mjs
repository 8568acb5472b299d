import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PASSWORD, REDIRECT_URI } from '../../people.mjs';
import { freePort, startCommand } from '../../program.mjs';
import { USERS } from '../../settings.mjs';
import { FOLDER, HERE, installed, installJava, javaHome, POOL_SIZE, run, SHOP } from './server.mjs';

const SOURCES = join(HERE, 'spring');
const JAR = 'spring/target/spring-as-1.jar';
const SCHEMA = 'spring/target/schema/org/springframework/security/oauth2/server/authorization';
const HEAP = ['-Xms512m', '-Xmx1g'];

/** Spring Authorization Server: an application of one class, `spring/`, with Spring's own JDBC services. @type {import('./server.mjs').Server} */
export const spring = {
  version: '7.1.1 (Spring Boot 4.1.1)',

  install() {
    installJava();
    const folder = join(FOLDER, 'spring');
    cpSync(SOURCES, folder, { recursive: true });
    run('mvn', ['--quiet', '--batch-mode', 'package'], { cwd: folder });
  },

  async prepare({ site, database, shipped }) {
    await site.createEmptyDatabase(database);
    const db = await site.connect(database);
    await db.query(schema());
    const port = await freePort();
    const { host, port: postgresPort, user } = site.postgres;
    const variables = {
      SERVER_ADDRESS: '127.0.0.1',
      SERVER_PORT: String(port),
      SERVER_TOMCAT_MAX_KEEP_ALIVE_REQUESTS: '-1',
      SPRING_DATASOURCE_URL: `jdbc:postgresql://${host}:${postgresPort}/${database}`,
      SPRING_DATASOURCE_USERNAME: String(user),
      SPRING_DATASOURCE_HIKARI_MAXIMUM_POOL_SIZE: POOL_SIZE,
      USERS_COUNT: String(USERS),
      USERS_PASSWORD: PASSWORD,
      SHOP_REDIRECT_URI: REDIRECT_URI,
      SHOP_SECRET: SHOP.secret,
      SHOP_SHIPPED: String(shipped),
    };
    const command = join(javaHome(), 'bin/java');
    const args = [...HEAP, '-jar', installed(JAR)];
    const url = `http://127.0.0.1:${port}/actuator/health`;
    return {
      launch: () =>
        startCommand({ command, args, variables, logFile: site.file(`${database}.log`), port, url }),
      register: async () => ({ client: SHOP, api: SHOP, apiPort: port }),
    };
  },
};

/** Columns of its service's queries; the schema has only primary keys. */
const LOOKED_UP_BY = [
  'state',
  'authorization_code_value',
  'access_token_value',
  'oidc_id_token_value',
  'refresh_token_value',
  'user_code_value',
  'device_code_value',
];

/** Its own schema, with the types that its comment requires for PostgreSQL, and the indexes. */
function schema() {
  const tables = ['oauth2-authorization-schema', 'oauth2-authorization-consent-schema']
    .map((name) => readFileSync(installed(`${SCHEMA}/${name}.sql`), 'utf8'))
    .map((text) => text.replaceAll(' blob ', ' text ').replaceAll(' timestamp ', ' timestamptz '));
  const indexes = LOOKED_UP_BY.map(
    (column) => `create index on oauth2_authorization using hash (${column});`,
  );
  return [...tables, ...indexes].join('\n');
}
