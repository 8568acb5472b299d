import { open } from 'node:fs/promises';
import { Option } from 'commander';
import { prune } from '../operations/audit.ts';
import { intUpTo } from '../operations/fields.ts';
import * as imports from '../operations/import/imports.ts';
import { maintain } from '../operations/maintain.ts';
import type { AnyOperation, Operation } from '../operations/operation.ts';
import { VERBS } from '../operations/verbs.ts';
import { followTrail } from './audit.ts';
import { CHANGE_OPTIONS, readSettings, SETTING_OPTIONS } from './clientOptions.ts';
import {
  type CommandRow,
  type CommandSettings,
  type Options,
  operationCommand,
  optionOf,
} from './commands.ts';
import { runDoctor, showConfig } from './doctor.ts';
import { IMPORT_COMMAND } from './imports.ts';
import { runMigrate } from './migrate.ts';
import { sendTest, showSecrets } from './notify.ts';
import type { Shell } from './shell.ts';
import { ASKING, readSecret } from './terminal.ts';
import { beginTexts, checkTexts, showProxyPage } from './texts.ts';

/** For a block or unblock: the only input field is the name. */
const STATUS_SET = {
  says({ status, changed }: { status: string; changed: boolean }, input: Readonly<Record<string, string>>) {
    const [name] = Object.values(input);
    return changed ? `${name} is ${status}` : `${name} was already ${status}: nothing changed`;
  },
};
const revokedSentence = (revoked: number) => `authorizations revoked: ${revoked}`;

const KNOWN_SECRET = {
  options: { secret: () => [new Option('--secret-stdin', 'read its existing secret from standard input')] },
  read: async ({ secretStdin }: Options, shell: Shell) =>
    secretStdin ? { secret: await readSecret(shell, 'The secret') } : {},
};
const SECRET_RETIRED = {
  says: (_retired: unknown, { secretId }: Readonly<Record<string, string>>) => `retired ${secretId}`,
};

/** Those outside `VERBS` need the owner of the tables. */
const OPERATIONS = {
  maintain,
  ...VERBS,
  'client import [file]': imports.clients,
  'user import [file]': imports.users,
  'grant import [file]': imports.grants,
  'audit prune': prune,
} as const;

type SettingsOf<Any> =
  Any extends Operation<infer Input, infer Output, infer Result>
    ? CommandSettings<Input, Output, Result>
    : never;

const SETTINGS: { readonly [Usage in keyof typeof OPERATIONS]?: SettingsOf<(typeof OPERATIONS)[Usage]> } = {
  maintain: {
    anySchema: true,
    says: ({ expired, made, pruned, ended, strays, analyzed }) =>
      [
        `removed expired rows: ${Object.entries(expired)
          .map(([table, rows]) => `${rows} ${table}`)
          .join(', ')}`,
        ...made.map((name) => `created ${name}`),
        ...pruned.map((month) => `dropped ${month}`),
        ...(ended > 0 ? [`wrote to the trail that authorizations end or have ended: ${ended}`] : []),
        ...(strays > 0 ? [`${strays} rows of the trail are outside the months with partitions`] : []),
        ...(analyzed ? ['analyzed the trail'] : []),
      ].join('\n'),
  },

  'client create': {
    options: {
      ...SETTING_OPTIONS,
      ...KNOWN_SECRET.options,
    },
    read: async (options, shell) => ({
      ...readSettings(options),
      ...(await KNOWN_SECRET.read(options, shell)),
    }),
    view: ({ status, ...given }) => given,
  },
  'client import [file]': IMPORT_COMMAND,
  'client update <id>': {
    options: CHANGE_OPTIONS,
    read: readSettings,
    says({ changed }) {
      const names = Object.keys(changed);
      return names.length === 0 ? 'there is nothing to change' : `changed ${names.join(', ')}`;
    },
  },
  'client list': {
    none: 'no applications',
    line: ({ client_id, status, name }) => `${`${client_id}`.padEnd(32)}  ${`${status}`.padEnd(7)}  ${name}`,
  },
  'client block <id>': STATUS_SET,
  'client unblock <id>': STATUS_SET,
  'client delete <id>': {
    says: ({ clientId, revoked }) => `deleted ${clientId}; ${revokedSentence(revoked)}`,
  },
  'client refusals <id>': { none: 'no refusals' },
  'client secret add <id>': KNOWN_SECRET,
  'client secret list <id>': { none: 'no secrets' },
  'client secret retire <id> <secret-id>': SECRET_RETIRED,

  'user create <login>': {
    ...ASKING,
    summary: 'create a user; prompts for the passwords without showing them',
  },
  'user import [file]': IMPORT_COMMAND,
  'user list': { none: 'no users' },
  'user show <login>': {
    view: (user, { paymentPasswordHash }) => ({
      ...user,
      paymentPassword: paymentPasswordHash ? 'set' : 'none',
    }),
  },
  'user block <login>': STATUS_SET,
  'user unblock <login>': STATUS_SET,
  'user sign-out <login>': {
    says: ({ login }) => `${login} is signed out everywhere`,
  },
  'user set-password <login>': {
    ...ASKING,
    says: ({ login }) => `the password of ${login} is changed`,
  },
  'user delete <login>': {
    says: ({ userId, revoked }) => `deleted ${userId}; ${revokedSentence(revoked)}`,
  },

  'resource list': { none: 'no resource servers' },
  'resource block <id>': STATUS_SET,
  'resource unblock <id>': STATUS_SET,
  'resource delete <id>': { says: ({ resourceId }) => `deleted ${resourceId}` },
  'resource secret add <id>': KNOWN_SECRET,
  'resource secret list <id>': { none: 'no secrets' },
  'resource secret retire <id> <secret-id>': SECRET_RETIRED,

  'operator list': { none: 'no operators' },
  'operator retire <name>': { says: ({ name }) => `retired ${name}` },

  'grant import [file]': IMPORT_COMMAND,
  'grant list': {
    none: 'no authorizations',
    view: ({ clientName, ...grant }) => ({ clientName, ...grant }),
  },
  'grant show <grant-id>': { view: (grant) => grant },
  'grant revoke [grant-id]': {
    options: {
      trail: () => [
        new Option(
          '--trail <file>',
          'after a restore, revoke the authorizations that ended, were lowered or replaced later, according to the audit trail in this file (exported by “assent audit next”)',
        ).conflicts(['login', 'client', 'since', 'until']),
      ],
      hashes: () => [
        new Option(
          '--hashes <file>',
          'revoke imported tokens by their SHA-256: 64 hex digits a line',
        ).conflicts(['login', 'client', 'since', 'until', 'trail']),
      ],
    },
    read: ({ trail, hashes }) => ({
      ...(trail !== undefined && { trail: { name: trail, lines: linesOf(trail) } }),
      ...(hashes !== undefined && { hashes: { name: hashes, lines: linesOf(hashes) } }),
    }),
    says({ revoked }, { grantId }) {
      if (grantId !== undefined)
        return revoked === 0 ? `${grantId} was already revoked` : `revoked ${grantId}`;
      return revoked === 0 ? 'there is no live authorization to revoke' : revokedSentence(revoked);
    },
  },

  audit: {
    options: { userId: (derived) => [derived.conflicts('login')] },
    none: 'no events',
    view: ({ id, limits, ...event }) => event, // the words of the rights have the limits
  },
  'audit prune': {
    says: ({ months }) => months.map((month) => `dropped ${month}`).join('\n') || 'nothing older to drop',
  },

  'explain <reference>': {
    view: (refusal) => ({ ...refusal, commands: refusal.remedy.match(/(?<=`)assent [^`]+/g) }),
  },
  'token show': {
    summary: 'show state, user and rights of an access token read from standard input',
    options: { token: () => [] },
    view: (grant) => grant,
    read: async (_options, shell) => ({ token: await readSecret(shell, 'The access token') }),
  },
};

const SECRETS =
  'add, list and retire secrets; several may be valid at once, so that one can be replaced without downtime';

/** The summaries of groups of commands, such as `client secret`. */
export const GROUPS: Readonly<Record<string, string>> = {
  client: 'register, import, list, change, block and delete applications, and manage their secrets',
  'client secret': SECRETS,
  user: 'create, import, list, block, sign out and delete users, and set their passwords',
  resource: 'register, list, block and delete servers that may introspect tokens, and manage their secrets',
  'resource secret': SECRETS,
  operator: 'create, list and retire the operators of the HTTP API',
  grant: 'list, import and revoke the authorizations of users',
  token: 'look up an access token',
  texts: 'check the translations of a folder, or begin one',
  config: 'show the configuration',
};

const verbCommand = ([usage, operation]: [string, AnyOperation]): [string, CommandRow] => [
  usage,
  operationCommand(usage, operation, (SETTINGS as Readonly<Record<string, CommandSettings>>)[usage]),
];

/** By their usage, as typed. */
export const COMMANDS: Readonly<Record<string, CommandRow>> = {
  serve: {
    summary: 'run the server until a signal ends it',
    // Loaded only here, so that other commands start faster.
    run: async () => (await import('../process/serve.ts')).serve(),
  },

  notify: {
    summary: 'tell applications and users what has happened, by webhooks, until a signal ends it',
    run: async () => (await import('../process/notify.ts')).notify(),
  },
  'notify secret [client-id]': {
    summary:
      'show the secrets that verify webhooks to an application, or to the wallet; the current one first',
    run: showSecrets,
  },
  'notify test [client-id]': {
    summary: 'post a webhook of the type “test” to an application, or to the wallet',
    run: sendTest,
  },

  migrate: {
    summary: 'migrate the database schema to this build’s version',
    options: [
      new Option('--status', 'change nothing, only show the version of the schema'),
      new Option(
        '--server-role <role>',
        'afterwards grant this role the privileges of a server, and no others; run as the owner of the tables',
      ).conflicts('status'),
    ],
    run: runMigrate,
  },

  ...Object.fromEntries(Object.entries(OPERATIONS).map(verbCommand)),

  'audit next [cursor]': {
    summary: VERBS['audit next [cursor]'].summary,
    options: [new Option('--all', 'show all events, not only the next 1,000')],
    operation: VERBS['audit next [cursor]'],
    run: followTrail,
  },

  doctor: {
    summary: 'check configuration, database and address; exit code 1 if Assent can’t serve',
    options: [
      new Option(
        '--invariants',
        'check the invariants of the schema and of all rows instead; reads whole tables while servers run',
      ),
      optionOf('patience', intUpTo(99_999, 'seconds').default(60).describe('time limit of each statement')),
    ],
    run: runDoctor,
  },
  'texts check <folder>': {
    summary: 'check the texts of a folder as the server would (`TEXTS`), and count those still in English',
    run: checkTexts,
  },
  'texts new <tag> [folder]': {
    summary: 'write a file with the English texts to a folder, by default this one, to translate them',
    run: beginTexts,
  },
  'texts proxy': {
    summary: 'print the page, in each of `LANGUAGES`, with which a proxy answers too many requests',
    run: showProxyPage,
  },
  'config show': {
    summary: 'list all variables: the effective value, without secrets, and its origin',
    run: showConfig,
  },
};

async function* linesOf(file: string): AsyncGenerator<string> {
  yield* (await open(file)).readLines();
}
