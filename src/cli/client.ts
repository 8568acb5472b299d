import type { Command } from 'commander';
import { addClientSecret, registerClient } from '../flows/register.ts';
import type { Client } from '../oauth/client.ts';
import { listClientSecrets, retireClientSecret } from '../store/clientSecrets.ts';
import { deleteClient, findClients, listClients, markClientStatus } from '../store/clients.ts';
import type { Database } from '../store/database.ts';
import { NotFoundError, type OutputOptions, printList, printOne } from './output.ts';
import { withStore } from './withStore.ts';

interface CreateOptions extends OutputOptions {
  readonly name: string;
  readonly redirectUri: string;
  readonly verified?: boolean;
  readonly right?: string[];
  readonly force?: boolean;
}

/** `assent client …`: the applications (contract 2.1) */
export function clientCommands(program: Command): void {
  const client = program.command('client').description('register and block applications');

  client
    .command('create')
    .description('register an application; the secret is shown this once')
    .requiredOption('--name <name>', 'what users see')
    .requiredOption('--redirect-uri <uri>', 'where the browser goes back to, compared character by character')
    .option('--verified', 'register with authenticity verification: the application gets a client secret')
    .option('--right <names...>', 'the only rights it may ask (default: all)')
    .option('--force', 'also with a name that could be taken for another application’s')
    .option('--json', 'print JSON')
    .action(create);

  client.command('list').description('list the applications').option('--json', 'print JSON').action(list);
  client.command('show <id>').description('show an application').option('--json', 'print JSON').action(show);
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
    .action(async (id: string) => {
      if (!(await withStore((db) => deleteClient(db, id)))) throw noClient(id);
      console.error(`deleted ${id}`);
    });
  secretCommands(client);
}

function secretCommands(client: Command): void {
  const secret = client
    .command('secret')
    .description('client secrets: several may be live, to change them without a break');

  secret
    .command('add <id>')
    .description('make another secret; it is shown this once')
    .option('--json', 'print JSON')
    .action(async (id: string, options: OutputOptions) => {
      const added = await withStore(async (db) => {
        const { verified } = await requireClient(db, id);
        if (!verified)
          throw new Error(
            `${id} is registered without authenticity verification: a secret would not be asked`,
          );
        return addClientSecret(db, id);
      });
      printOne({ client_id: id, secret_id: added.secretId, client_secret: added.clientSecret }, options);
    });

  secret
    .command('list <id>')
    .description('list its secrets')
    .option('--json', 'print JSON')
    .action(async (id: string, options: OutputOptions) => {
      const secrets = await withStore(async (db) => {
        await requireClient(db, id);
        return listClientSecrets(db, id);
      });
      const rows = secrets.map(({ secretId, createdAt, lastUsedOn, retiredAt }) => ({
        secret_id: secretId,
        created_at: createdAt,
        last_used_on: lastUsedOn,
        retired_at: retiredAt,
      }));
      printList(rows, 'no secrets', options);
    });

  secret
    .command('retire <id> <secret-id>')
    .description('accept a secret no more')
    .option('--force', 'even when it is the last one and the application can exchange nothing without it')
    .action(async (id: string, secretId: string, { force = false }: { force?: boolean }) => {
      const { found, retired } = await withStore((db) => retireClientSecret(db, id, secretId, force));
      if (!found) throw new NotFoundError(`the client ${id} has no live secret ${secretId}`);
      if (!retired) {
        throw new Error(`${secretId} is the last live secret of ${id}: add another first, or say --force`);
      }
      console.error(`retired ${secretId}`);
    });
}

async function create({
  name,
  redirectUri,
  verified = false,
  right,
  force = false,
  ...output
}: CreateOptions): Promise<void> {
  const registered = await withStore((db) =>
    registerClient(db, { name, redirectUri, verified, allowedRights: right ?? null }, { force }),
  );
  warnOfPlainHttp(redirectUri);
  const secret = registered.clientSecret === null ? {} : { client_secret: registered.clientSecret };
  printOne({ client_id: registered.clientId, name, redirect_uri: redirectUri, ...secret }, output);
}

function warnOfPlainHttp(redirectUri: string): void {
  const { protocol, hostname } = new URL(redirectUri);
  if (protocol !== 'http:' || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)) return;
  console.error('warning: codes will travel to this redirect URI unencrypted; use https outside a test');
}

async function list(options: OutputOptions): Promise<void> {
  const clients = await withStore(listClients);
  printList(clients.map(describe), 'no applications', options);
}

async function show(id: string, options: OutputOptions): Promise<void> {
  printOne(describe(await withStore((db) => requireClient(db, id))), options);
}

async function setStatus(id: string, status: Client['status']): Promise<void> {
  if (!(await withStore((db) => markClientStatus(db, id, status)))) throw noClient(id);
  console.error(`${id} is ${status}`);
}

function describe({ clientId, name, redirectUri, verified, status, allowedRights }: Client) {
  return {
    client_id: clientId,
    name,
    redirect_uri: redirectUri,
    verified,
    status,
    allowed_rights: allowedRights,
  };
}

async function requireClient(db: Database, id: string): Promise<Client> {
  const [client] = await findClients(db, [id]);
  if (!client) throw noClient(id);
  return client;
}

function noClient(id: string): NotFoundError {
  return new NotFoundError(`there is no client ${id}`);
}
