import { open } from 'node:fs/promises';
import { Option } from 'commander';
import * as audit from '../operations/audit.ts';
import * as clients from '../operations/clients.ts';
import { checkDatabase, checkInvariants } from '../operations/doctor.ts';
import { explain, refusals, showToken } from '../operations/explain.ts';
import * as grants from '../operations/grants.ts';
import * as imports from '../operations/import/imports.ts';
import { maintain } from '../operations/maintain.ts';
import * as operators from '../operations/operators.ts';
import * as resources from '../operations/resources.ts';
import * as users from '../operations/users.ts';
import { followTrail } from './audit.ts';
import { CHANGE_OPTIONS, readSettings, SETTING_OPTIONS } from './clientOptions.ts';
import { type CommandTable, command, type Options, optionOf } from './commands.ts';
import { examine, showConfig } from './doctor.ts';
import { IMPORTING } from './imports.ts';
import { runMigrate } from './migrate.ts';
import type { Shell } from './shell.ts';
import { ASKING, readSecret } from './terminal.ts';

/** For a block or unblock: the only input field is the name. */
const STATUS_SET = {
  says({ status, changed }: { status: string; changed: boolean }, input: Readonly<Record<string, string>>) {
    const [name] = Object.values(input);
    return changed ? `${name} is ${status}` : `${name} was already ${status}: nothing changed`;
  },
};
const revokedSentence = (revoked: number) => `authorizations revoked: ${revoked}`;

const SECRETS = {
  summary:
    'add, list and retire secrets; several may be valid at once, so that one can be replaced without downtime',
};
const KNOWN_SECRET = {
  options: { secret: () => [new Option('--secret-stdin', 'read its existing secret from standard input')] },
  read: async ({ secretStdin }: Options, shell: Shell) =>
    secretStdin ? { secret: await readSecret(shell, 'The secret') } : {},
};
const SECRET_RETIRED = {
  says: (_retired: unknown, { secretId }: Readonly<Record<string, string>>) => `retired ${secretId}`,
};

export const COMMANDS: CommandTable = {
  serve: {
    summary: 'run the server until a signal ends it',
    // Loaded only here, so that other commands start faster.
    run: async () => (await import('../process/serve.ts')).serve(),
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

  maintain: command(maintain, {
    anySchema: true,
    says: ({ expired, made, pruned, strays, analyzed }) =>
      [
        `removed expired rows: ${Object.entries(expired)
          .map(([table, rows]) => `${rows} ${table}`)
          .join(', ')}`,
        ...made.map((name) => `created ${name}`),
        ...pruned.map((month) => `dropped ${month}`),
        ...(strays > 0 ? [`${strays} rows of the trail are outside the months with partitions`] : []),
        ...(analyzed ? ['analyzed the trail'] : []),
      ].join('\n'),
  }),

  client: {
    summary: 'register, import, list, change, block and delete applications, and manage their secrets',
  },
  'client create': command(clients.create, {
    options: {
      ...SETTING_OPTIONS,
      ...KNOWN_SECRET.options,
    },
    read: async (options, shell) => ({
      ...readSettings(options),
      ...(await KNOWN_SECRET.read(options, shell)),
    }),
    view: ({ status, ...given }) => given,
  }),
  'client import [file]': command(imports.clients, IMPORTING),
  'client update <id>': command(clients.update, {
    options: CHANGE_OPTIONS,
    read: readSettings,
    says({ changed }) {
      const names = Object.keys(changed);
      return names.length === 0 ? 'there is nothing to change' : `changed ${names.join(', ')}`;
    },
  }),
  'client list': command(clients.list, {
    none: 'no applications',
    line: ({ client_id, status, name }) => `${`${client_id}`.padEnd(32)}  ${`${status}`.padEnd(7)}  ${name}`,
  }),
  'client show <id>': command(clients.show),
  'client block <id>': command(clients.block, STATUS_SET),
  'client unblock <id>': command(clients.unblock, STATUS_SET),
  'client delete <id>': command(clients.remove, {
    says: ({ clientId, revoked }) => `deleted ${clientId}; ${revokedSentence(revoked)}`,
  }),
  'client refusals <id>': command(refusals, { none: 'no refusals' }),
  'client secret': SECRETS,
  'client secret add <id>': command(clients.secret.add, KNOWN_SECRET),
  'client secret list <id>': command(clients.secret.list, { none: 'no secrets' }),
  'client secret retire <id> <secret-id>': command(clients.secret.retire, SECRET_RETIRED),

  user: { summary: 'create, import, list, block, sign out and delete users, and set their passwords' },
  'user create <login>': command(users.create, {
    ...ASKING,
    summary: 'create a user; prompts for the passwords without showing them',
  }),
  'user import [file]': command(imports.users, IMPORTING),
  'user list': command(users.list, { none: 'no users' }),
  'user show <login>': command(users.show, {
    view: (user, { paymentPasswordHash }) => ({
      ...user,
      paymentPassword: paymentPasswordHash ? 'set' : 'none',
    }),
  }),
  'user update <login>': command(users.update),
  'user block <login>': command(users.block, STATUS_SET),
  'user unblock <login>': command(users.unblock, STATUS_SET),
  'user sign-out <login>': command(users.signOut, {
    says: ({ login }) => `${login} is signed out everywhere`,
  }),
  'user set-password <login>': command(users.setPassword, {
    ...ASKING,
    says: ({ login }) => `the password of ${login} is changed`,
  }),
  'user delete <login>': command(users.remove, {
    says: ({ userId, revoked }) => `deleted ${userId}; ${revokedSentence(revoked)}`,
  }),

  resource: {
    summary: 'register, list, block and delete servers that may introspect tokens, and manage their secrets',
  },
  'resource create': command(resources.create),
  'resource list': command(resources.list, { none: 'no resource servers' }),
  'resource show <id>': command(resources.show),
  'resource block <id>': command(resources.block, STATUS_SET),
  'resource unblock <id>': command(resources.unblock, STATUS_SET),
  'resource delete <id>': command(resources.remove, { says: ({ resourceId }) => `deleted ${resourceId}` }),
  'resource secret': SECRETS,
  'resource secret add <id>': command(resources.secret.add, KNOWN_SECRET),
  'resource secret list <id>': command(resources.secret.list, { none: 'no secrets' }),
  'resource secret retire <id> <secret-id>': command(resources.secret.retire, SECRET_RETIRED),

  operator: { summary: 'create, list and retire the operators of the HTTP API' },
  'operator create <name>': command(operators.create),
  'operator list': command(operators.list, { none: 'no operators' }),
  'operator retire <name>': command(operators.retire, { says: ({ name }) => `retired ${name}` }),

  grant: { summary: 'list, import and revoke the authorizations of users' },
  'grant import [file]': command(imports.grants, IMPORTING),
  'grant list': command(grants.list, {
    none: 'no authorizations',
    view: ({ clientName, ...grant }) => ({ clientName, ...grant }),
  }),
  'grant show <grant-id>': command(grants.show, { view: (grant) => grant }),
  'grant revoke [grant-id]': command(grants.revoke, {
    options: {
      trail: () => [
        new Option(
          '--trail <file>',
          'after a restore, revoke the authorizations that ended or were replaced later, according to the audit trail in this file (exported by “assent audit next”)',
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
  }),

  audit: command(audit.show, {
    options: { userId: (derived) => [derived.conflicts('login')] },
    none: 'no events',
    view: ({ id, limits, ...event }) => event, // the words of the rights have the limits
  }),
  'audit next [cursor]': {
    summary: audit.next.summary,
    options: [new Option('--all', 'show all events, not only the next 1,000')],
    operations: [audit.next],
    run: followTrail,
  },
  'audit prune': command(audit.prune, {
    says: ({ months }) => months.map((month) => `dropped ${month}`).join('\n') || 'nothing older to drop',
  }),

  'explain <reference>': command(explain, {
    view: (refusal) => ({ ...refusal, commands: refusal.remedy.match(/(?<=`)assent [^`]+/g) }),
  }),
  token: { summary: 'look up an access token' },
  'token show': command(showToken, {
    summary: 'show state, user and rights of an access token read from standard input',
    options: { token: () => [] },
    view: (grant) => grant,
    read: async (_options, shell) => ({ token: await readSecret(shell, 'The access token') }),
  }),

  doctor: {
    summary: 'check configuration, database and address; exit code 1 if Assent can’t serve',
    options: [
      new Option(
        '--invariants',
        'check the invariants of the schema and of all rows instead; reads whole tables while servers run',
      ),
      optionOf(checkInvariants.input, 'patience'),
    ],
    operations: [checkDatabase, checkInvariants],
    run: examine,
  },
  config: { summary: 'show the configuration' },
  'config show': {
    summary: 'list all variables: the effective value, without secrets, and its origin',
    run: showConfig,
  },
};

async function* linesOf(file: string): AsyncGenerator<string> {
  yield* (await open(file)).readLines();
}
