import { type Command, InvalidArgumentError } from 'commander';
import { changeClient, registerClient, removeClient, setClientStatus, settingsOf } from '../flows/clients.ts';
import { type Ceiling, readCeiling } from '../rules/ceiling.ts';
import type { Client } from '../rules/client.ts';
import { RIGHT_NAMES } from '../rules/scope.ts';
import { type ClientSettings, findClients, listClients } from '../store/clients.ts';
import type { Database } from '../store/database.ts';
import { countLiveGrants } from '../store/liveGrants.ts';
import { confirm, countedGrants, YES } from './confirm.ts';
import {
  NotFoundError,
  printList,
  printOne,
  report,
  showProgress,
  statusSentence,
  UsageError,
  warn,
} from './output.ts';
import { secretCommands } from './secret.ts';
import { withStore } from './withStore.ts';

interface SettingOptions {
  readonly name?: string;
  readonly redirectUri?: string;
  readonly right?: readonly string[];
  readonly most?: Ceiling | null;
  readonly force?: boolean;
}

interface CreateOptions extends SettingOptions {
  readonly name: string;
  readonly redirectUri: string;
  readonly verified?: boolean;
}

const NAME = ['--name <name>', 'the name that users see'] as const;
const REDIRECT_URI = [
  '--redirect-uri <uri>',
  'where browsers are sent back to; requests must name it character by character',
] as const;
const FORCE = ['--force', 'accept a name that could be mistaken for another one'] as const;

/** `assent client …`: the applications (contract 2.1) */
export function clientCommands(program: Command): void {
  const client = program
    .command('client')
    .description('register, list, change, block and delete applications, and manage their secrets');

  const creating = client
    .command('create')
    .description('register an application; its secret, if it gets one, is shown this once')
    .requiredOption(...NAME)
    .requiredOption(...REDIRECT_URI)
    .option(
      '--verified',
      'with authenticity verification: the application gets a client secret, and has to use it',
    );
  withLimits(creating)
    .option(...FORCE)
    .action(create);
  const updating = client
    .command('update <id>')
    .description(
      'change an application; consent pages already shown and codes not yet exchanged become invalid, tokens stay valid',
    )
    .option(...NAME)
    .option(...REDIRECT_URI);
  withLimits(updating)
    .option(...FORCE)
    .action(update);
  client.command('list').description('list the applications').action(list);
  client.command('show <id>').description('show an application').action(show);
  client
    .command('block <id>')
    .description('block an application: refuse its requests, codes and tokens until it is unblocked')
    .action((id: string) => setStatus(id, 'blocked'));
  client
    .command('unblock <id>')
    .description('let a blocked application work again, with the tokens it has')
    .action((id: string) => setStatus(id, 'active'));
  client
    .command('delete <id>')
    .description('delete an application with its secrets, and revoke all its authorizations')
    .option(...YES)
    .action(remove);
  secretCommands(client, 'client', requireClient, async (db, id) => {
    const { verified } = await requireClient(db, id);
    if (verified) return;
    throw new Error(`${id} is registered without authenticity verification: it is never asked for a secret`);
  });
}

/** What an application may ask. */
function withLimits(command: Command): Command {
  return command
    .option(
      '--right <names...>',
      `the only rights that it may request, or "all" (at first); separated by spaces or commas, and behind any id. There are: ${RIGHT_NAMES.join(', ')}`,
      readRights,
    )
    .option(
      '--most <days,sum>',
      'the longest period and the largest sum that a payment limit may have; or "none" (at first)',
      readMost,
    );
}

function readMost(text: string): Ceiling | null {
  const most = text === 'none' ? null : readCeiling(text);
  if (most === undefined) {
    throw new InvalidArgumentError('Not days and a sum, such as 30,5000 or 7,999.50, nor "none".');
  }
  return most;
}

/** Commander takes all words behind `--right` for rights, so a name that is none may be the id. */
function readRights(text: string, before: readonly string[] = []): readonly string[] {
  const names = text.split(',');
  const unknown = names.find((name) => !['all', ...RIGHT_NAMES].includes(name));
  if (unknown !== undefined) {
    throw new InvalidArgumentError(
      `“${unknown}” is no right. There are: ${RIGHT_NAMES.join(', ')}, or "all". An id stands before --right.`,
    );
  }
  return [...new Set([...before, ...names])];
}

/** The rights that were named; null for all of them. */
function rightsOf(names: readonly string[]): readonly string[] | null {
  return names.length === 1 && names[0] === 'all' ? null : names;
}

async function create({
  name,
  redirectUri,
  verified = false,
  right,
  most,
  force = false,
}: CreateOptions): Promise<void> {
  const settings = { name, redirectUri, allowedRights: right ? rightsOf(right) : null, most: most ?? null };
  const registered = await withStore((db, operator) =>
    registerClient(db, { ...settings, verified }, operator, { force }),
  );
  warnOfPlainHttp(redirectUri);
  if (registered.hasNamesake) warnOfNamesake(name);
  const secret = registered.clientSecret === null ? {} : { client_secret: registered.clientSecret };
  printOne({ client_id: registered.clientId, name, redirect_uri: redirectUri, ...secret });
}

function warnOfPlainHttp(redirectUri: string): void {
  const { protocol, hostname } = new URL(redirectUri);
  if (protocol !== 'http:' || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)) return;
  warn('codes will travel to this redirect URI unencrypted; use https outside a test');
}

function warnOfNamesake(name: string): void {
  warn(`another application has the name “${name}”, too: users can’t tell them apart`);
}

async function update(
  id: string,
  { name, redirectUri, right, most, force = false }: SettingOptions,
): Promise<void> {
  const change: Partial<ClientSettings> = {
    ...(name === undefined ? {} : { name }),
    ...(redirectUri === undefined ? {} : { redirectUri }),
    ...(right === undefined ? {} : { allowedRights: rightsOf(right) }),
    ...(most === undefined ? {} : { most }),
  };
  if (Object.keys(change).length === 0) {
    throw new UsageError('say what to change: --name, --redirect-uri, --right or --most');
  }
  const updated = await withStore((db, operator) => changeClient(db, id, change, operator, { force }));
  if (updated === null) throw noClient(id);
  if (redirectUri !== undefined) warnOfPlainHttp(redirectUri);
  if (updated.hasNamesake) warnOfNamesake(updated.client.name);
  const changed = Object.keys(updated.changed);
  const sentence = changed.length === 0 ? 'there is nothing to change' : `changed ${changed.join(', ')}`;
  report(describe(updated.client), sentence);
}

async function list(): Promise<void> {
  printList((await withStore(listClients)).map(describe), 'no applications');
}

async function show(id: string): Promise<void> {
  printOne(describe(await withStore((db) => requireClient(db, id))));
}

async function setStatus(id: string, status: Client['status']): Promise<void> {
  const changed = await withStore((db, operator) => setClientStatus(db, id, status, operator));
  if (changed === null) throw noClient(id);
  report({ client_id: id, status }, statusSentence(id, status, changed));
}

async function remove(id: string, { yes = false }: { yes?: boolean }): Promise<void> {
  const revoked = await withStore(async (db, operator) => {
    const { name } = await requireClient(db, id);
    if (!yes) {
      const counted = countedGrants(await countLiveGrants(db, { clientId: id }));
      await confirm(`delete the application ${name} and revoke ${counted}`, yes);
    }
    return removeClient(db, id, operator, showProgress);
  });
  if (revoked === null) throw noClient(id);
  report({ client_id: id, status: 'deleted', revoked }, `deleted ${id}; authorizations revoked: ${revoked}`);
}

function describe({ clientId, verified, status, ...settings }: Client) {
  const { name, redirect_uri, ...limits } = settingsOf(settings);
  return { client_id: clientId, name, redirect_uri, verified, status, ...limits };
}

/** The application that a command names. @throws {NotFoundError} */
export async function requireClient(db: Database, id: string): Promise<Client> {
  const [client] = await findClients(db, [id]);
  if (!client) throw noClient(id);
  return client;
}

function noClient(id: string): NotFoundError {
  return new NotFoundError(`there is no client ${id}`);
}
