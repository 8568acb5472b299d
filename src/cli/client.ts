import { type Command, InvalidArgumentError } from 'commander';
import { changeClient, registerClient, removeClient, setClientStatus, settingsOf } from '../flows/clients.ts';
import { type Ceiling, readCeiling } from '../oauth/ceiling.ts';
import type { Client } from '../oauth/client.ts';
import { type ClientSettings, findClients, listClients } from '../store/clients.ts';
import type { Database } from '../store/database.ts';
import { countLiveGrants } from '../store/liveGrants.ts';
import { confirm, YES } from './confirm.ts';
import { NotFoundError, printList, printOne, report, say, showProgress, UsageError } from './output.ts';
import { secretCommands } from './secret.ts';
import { withStore } from './withStore.ts';

interface SettingOptions {
  readonly name?: string;
  readonly redirectUri?: string;
  readonly right?: string[];
  readonly most?: Ceiling | null;
  readonly force?: boolean;
}

interface CreateOptions extends SettingOptions {
  readonly name: string;
  readonly redirectUri: string;
  readonly verified?: boolean;
}

const NAME = ['--name <name>', 'what users see'] as const;
const REDIRECT_URI = [
  '--redirect-uri <uri>',
  'where the browser goes back to, compared character by character',
] as const;
const FORCE = ['--force', 'also with a name that could be taken for another application’s'] as const;

/** `assent client …`: the applications (contract 2.1) */
export function clientCommands(program: Command): void {
  const client = program.command('client').description('register, change and block applications');

  withLimits(client.command('create'))
    .description('register an application; the secret is shown this once')
    .requiredOption(...NAME)
    .requiredOption(...REDIRECT_URI)
    .option('--verified', 'register with authenticity verification: the application gets a client secret')
    .option(...FORCE)
    .action(create);
  withLimits(client.command('update <id>'))
    .description('change it; pages shown before and codes under way no longer fit')
    .option(...NAME)
    .option(...REDIRECT_URI)
    .option(...FORCE)
    .action(update);
  client.command('list').description('list the applications').action(list);
  client.command('show <id>').description('show an application').action(show);
  client
    .command('block <id>')
    .description('refuse its requests, codes and tokens from now on')
    .action((id: string) => setStatus(id, 'blocked'));
  client
    .command('unblock <id>')
    .description('let it work again')
    .action((id: string) => setStatus(id, 'active'));
  client
    .command('delete <id>')
    .description('delete it with its secrets and all authorizations')
    .option(...YES)
    .action(remove);
  secretCommands(client, 'client', requireClient, async (db, id) => {
    const { verified } = await requireClient(db, id);
    if (verified) return;
    throw new Error(`${id} is registered without authenticity verification: a secret would not be asked`);
  });
}

/** What an application may ask. */
function withLimits(command: Command): Command {
  return command
    .option('--right <names...>', 'the only rights it may ask; "all" for every right, as at first')
    .option(
      '--most <days,sum>',
      'the longest period and the largest sum that a limit may have; "none" for any, as at first',
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
  const secret = registered.clientSecret === null ? {} : { client_secret: registered.clientSecret };
  printOne({ client_id: registered.clientId, name, redirect_uri: redirectUri, ...secret });
}

function warnOfPlainHttp(redirectUri: string): void {
  const { protocol, hostname } = new URL(redirectUri);
  if (protocol !== 'http:' || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)) return;
  say('warning: codes will travel to this redirect URI unencrypted; use https outside a test');
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
  if (updated === undefined) throw noClient(id);
  if (redirectUri !== undefined) warnOfPlainHttp(redirectUri);
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
  if (!(await withStore((db, operator) => setClientStatus(db, id, status, operator)))) throw noClient(id);
  report({ client_id: id, status }, `${id} is ${status}`);
}

async function remove(id: string, { yes = false }: { yes?: boolean }): Promise<void> {
  const revoked = await withStore(async (db, operator) => {
    const { name } = await requireClient(db, id);
    if (!yes) {
      const { people } = await countLiveGrants(db, { clientId: id });
      await confirm(
        `${people} ${people === 1 ? 'person loses' : 'people lose'} the connection to ${name}`,
        yes,
      );
    }
    return removeClient(db, id, operator, showProgress);
  });
  if (revoked === undefined) throw noClient(id);
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
