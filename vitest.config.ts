import { pathToFileURL } from 'node:url';
import { configDefaults, defineConfig, type Plugin } from 'vitest/config';

/** Vitest imports packages by their paths, and Node reads those as URLs: `%41` in the checkout's path would be an `A`. */
const packagesByUrl: Plugin = {
  name: 'packages-by-url',
  enforce: 'pre',
  async resolveId(source, importer, options) {
    if (source.startsWith('file:')) return source;
    if (/^([./]|node:|vitest)/.test(source)) return null;
    const found = await this.resolve(source, importer, { ...options, skipSelf: true });
    return found?.id.includes('/node_modules/') ? pathToFileURL(found.id).href : null;
  },
};

const ALL = 'test/**/*.test.ts';

/** What `npm test` leaves to `npm run test:rest`, and why; all other tests are of the first, a new file too. */
const REST: Readonly<Record<string, string>> = {
  'test/admin/supportPages.test.ts': 'every page for operators in a browser',
  'test/admin/turns.test.ts': 'waits for a real deadline',
  'test/admin/document.test.ts': 'each operation with each of its fields',
  'test/attacks/provider{Payments,Places}.test.ts': 'every answer that a provider may give',
  'test/attacks/texts.test.ts': 'each text in every field of every endpoint',
  'test/browser/{forms,playground}.test.ts': 'a browser; authorize.test.ts has the whole journey',
  'test/clients/{events,generated,guide,notifyUsers,resources}.test.ts':
    'interpreters and libraries of others',
  'test/clients/keycloak.test.ts': 'a Keycloak that takes minutes to start, where KEYCLOAK names its folder',
  'test/cli/{import,importUpdate,texts}.test.ts': 'what an operator does later',
  'test/{flows/foreignHashes,secrets/foreignHash}.test.ts': 'passwords of another service',
  'test/deploy/{completion,prometheus,proxies,proxyLimits,sharedHost,tracing}.test.ts': 'programs of others',
  'test/docs/facets.test.ts': 'texts that the schemas of facets must refuse',
  'test/faults/{faults,planted}.test.ts': 'two replicas under load, again and again',
  'test/flows/{lastUsed,lateStatement}.test.ts': 'wait for real deadlines',
  'test/flows/listPages.test.ts': 'lists of thousands',
  'test/http/requests/{fuzz,fuzzNeeds,smuggling}.test.ts': 'random bytes',
  'test/http/requests/forgedHeaders.test.ts': 'every request with forged headers',
  'test/http/connections/{connections,unreadAnswers}.test.ts': 'connections that wait for their end',
  'test/http/pages/deadEnds.test.ts': 'every error page',
  'test/http/pages/images.test.ts': 'every form of a picture',
  'test/http/connections/{databaseAway,manyCallers}.test.ts': 'an outage or a crowd each',
  'test/pages/*.test.ts': 'every state of every page in a browser',
  'test/processes/{compose,explain,import,lists,operators,revokeByTime}.test.ts':
    'what an operator does later',
  'test/processes/{databaseAway,previousBuild,races,rollingRestart}.test.ts':
    'a second replica, an older build or an outage',
  'test/processes/spendRaces.test.ts': 'a second replica',
  'test/processes/{databaseStart,doctor,doctorOutside,foreignTables,image,invariants,maintain,package}.test.ts':
    'a process or a database for each case',
  'test/processes/{passwordMemory,playground,ports,provider,secrets,serverRole}.test.ts':
    'a process or a database for each case',
  'test/processes/{settings,signals,trial}.test.ts': 'a process or a database for each case',
  'test/processes/{notify,notifyLate,notifyOrder}.test.ts': 'a process for each case',
  'test/processes/programs.test.ts': 'interpreters of others',
  'test/store/{hosts,pooler,tls}.test.ts': 'a PostgreSQL of their own',
  'test/store/sessionSettings.test.ts': 'a server for each setting',
  'test/store/{plans,wrongStatistics}.test.ts': 'tables with many rows',
  'test/trial/*.test.ts': 'a PostgreSQL of their own, again and again',
};

const rest = Object.keys(REST);
/** On a Docker engine of their own: `npm run containers`. Images are built there, which takes minutes. */
const CONTAINERS = 'test/containers/*.test.ts';
/** Thousands of webhooks: `npm run webhooks`, on a machine that does nothing else. */
const WEBHOOKS = 'test/notify/*.test.ts';
const MINUTES = 600_000;
const plugins = import.meta.dirname.includes('%') ? [packagesByUrl] : [];

/** What each project says for itself, and each configuration of a folder. */
export const ofEach = {
  testTimeout: 240_000, // against hanging only, as are the others: a machine that is busy can take long
  hookTimeout: 240_000,
  expect: { poll: { timeout: 60_000 } },
  isolate: false, // the files of a worker share their modules: loading those anew for each took a quarter of the time
  setupFiles: ['test/support/eachFile.ts'],
  execArgv: [`--import=${import.meta.resolve('./test/support/cheapPasswords.mjs')}`],
  server: { deps: { external: [/^file:/] } },
};

export default defineConfig({
  plugins,
  test: {
    ...ofEach,
    globalSetup: ['test/support/globalSetup.ts'],
    allowOnly: false,
    maxWorkers: 3, // many tests wait for processes and for PostgreSQL, not for a core
    projects: [
      {
        plugins,
        test: {
          ...ofEach,
          name: 'first',
          include: [ALL],
          exclude: [...configDefaults.exclude, CONTAINERS, WEBHOOKS, ...rest],
        },
      },
      { plugins, test: { ...ofEach, name: 'rest', include: rest } },
      { plugins, test: { ...ofEach, name: 'webhooks', include: [WEBHOOKS] } },
      {
        plugins,
        test: {
          ...ofEach,
          testTimeout: MINUTES,
          hookTimeout: MINUTES,
          name: 'containers',
          include: [CONTAINERS],
        },
      },
    ],
  },
});
