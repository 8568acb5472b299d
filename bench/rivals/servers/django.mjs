import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { PASSWORD, REDIRECT_URI } from '../../people.mjs';
import { freePort, startCommand } from '../../program.mjs';
import { USERS } from '../../settings.mjs';
import { FOLDER, HERE, installed, pipInstall, run, SHOP } from './server.mjs';

const VERSION = '3.4.1';
const PACKAGES = [
  `django-oauth-toolkit==${VERSION}`,
  'Django==5.2.19',
  'psycopg[binary,pool]==3.3.9',
  'gunicorn==27.0.1',
];
/** The value in gunicorn's manual. */
const WORKERS = 2 * availableParallelism() + 1;
const SERVE = `bench.wsgi --workers ${WORKERS} --worker-class gthread --threads 4 --keep-alive 60`;

/** django-oauth-toolkit in a Django project of one settings file, `django/`, behind gunicorn. @type {import('./server.mjs').Server} */
export const django = {
  version: `${VERSION} (Django 5.2.19, gunicorn 27.0.1)`,

  install() {
    pipInstall(join(FOLDER, 'django'), PACKAGES);
  },

  async prepare({ site, database, shipped }) {
    await site.createEmptyDatabase(database);
    const cwd = join(HERE, 'django');
    const { host, port: postgresPort, user } = site.postgres;
    const variables = {
      PGHOST: String(host),
      PGPORT: String(postgresPort),
      PGUSER: String(user),
      PGDATABASE: database,
      PYTHONDONTWRITEBYTECODE: '1',
    };
    const people = { USERS: String(USERS), PASSWORD, REDIRECT_URI, HASHED: String(shipped) };
    const setUp = { ...people, CLIENT_ID: SHOP.id, CLIENT_SECRET: SHOP.secret };
    const { PATH } = process.env;
    run(installed('django/bin/python'), ['setup.py'], { cwd, env: { PATH, ...variables, ...setUp } });
    const port = await freePort();
    const log = site.file(`${database}.log`);
    const args = [...SERVE.split(' '), '--bind', `127.0.0.1:${port}`, '--access-logfile', `${log}.access`];
    const command = installed('django/bin/gunicorn');
    const url = `http://127.0.0.1:${port}/health`;
    return {
      launch: () => startCommand({ command, args, variables, cwd, logFile: log, port, url }),
      register: async () => ({ client: SHOP, api: SHOP, apiPort: port }),
    };
  },
};
