import type pg from 'pg';
import type { Client } from '../rules/client.ts';
import { lookAlikeProblem } from '../rules/lookAlike.ts';
import { checkName, checkRedirectUri, checkRights, RegistrationError } from '../rules/registration.ts';
import { randomId } from '../secrets/random.ts';
import { nameOperator, recordAct } from '../store/auditEvents.ts';
import {
  type ClientSettings,
  deleteClient,
  insertClient,
  listClients,
  updateClient,
} from '../store/clients.ts';
import { type Database, transaction } from '../store/database.ts';
import { audited } from './audit.ts';
import { revokeAll } from './grants.ts';
import { makeSecret } from './secrets.ts';
import { setStatus } from './status.ts';

export { type ClientSettings, findClient, listClients } from '../store/clients.ts';

/** An application to register (contract 2.1). */
export interface NewClient extends ClientSettings {
  readonly verified: boolean;
}

/** A registered application; `clientSecret` is null without authenticity verification and is shown only once. */
export interface RegisteredClient {
  readonly clientId: string;
  readonly clientSecret: string | null;
  /** Whether another application has the very same name. */
  readonly hasNamesake: boolean;
}

/** @param force accepts a name that could be mistaken for another @throws {RegistrationError} */
export async function registerClient(
  pool: pg.Pool,
  client: NewClient,
  operator: string,
  { force = false }: { readonly force?: boolean } = {},
): Promise<RegisteredClient> {
  checkClientSettings(client);
  const hasNamesake = await checkLooks(pool, client.name, force);
  const clientId = randomId();
  const { verified } = client;
  const detail = { ...settingsOf(client), verified };
  return transaction(pool, async (db) => {
    await insertClient(db, { clientId, ...client });
    await recordAct(db, { kind: 'client_created', operator, clientId, detail });
    const clientSecret = verified ? (await makeSecret(db, 'client', clientId, operator)).secret : null;
    return { clientId, clientSecret, hasNamesake };
  });
}

/**
 * Checks that the name of an application can't be mistaken for another.
 *
 * @param clientId the application that is renamed; undefined for a new one
 * @returns whether another application has the very same name
 * @throws {RegistrationError}
 */
async function checkLooks(db: Database, name: string, force: boolean, clientId?: string): Promise<boolean> {
  const others = (await listClients(db)).filter((client) => client.clientId !== clientId);
  const names = others.map((client) => client.name);
  const problem = force ? undefined : lookAlikeProblem(name, names);
  if (problem !== undefined)
    throw new RegistrationError(`the name ${problem}: choose another, or say --force`);
  return names.includes(name);
}

/** The settings of an application, by their names in the audit trail. */
function settingsOf({ name, redirectUri, allowedRights, most }: ClientSettings) {
  return { name, redirect_uri: redirectUri, allowed_rights: allowedRights, most };
}

/** @throws {RegistrationError} */
function checkClientSettings({ name, redirectUri, allowedRights }: Partial<ClientSettings>): void {
  if (name !== undefined) checkName(name);
  if (redirectUri !== undefined) checkRedirectUri(redirectUri);
  if (allowedRights) checkRights(allowedRights);
}

/**
 * Changes an application. Consent pages already shown and codes not yet exchanged become invalid.
 *
 * @param force accepts a name that could be mistaken for another
 * @returns null when there is no such application
 * @throws {RegistrationError}
 */
export async function changeClient(
  pool: pg.Pool,
  clientId: string,
  change: Partial<ClientSettings>,
  operator: string,
  { force = false }: { readonly force?: boolean } = {},
): Promise<{ client: Client; changed: Changes; hasNamesake: boolean } | null> {
  checkClientSettings(change);
  const hasNamesake = change.name !== undefined && (await checkLooks(pool, change.name, force, clientId));
  return transaction(pool, async (connection) => {
    const result = await updateClient(connection, clientId, change);
    if (result === null) return null;
    const changed = differences(settingsOf(result.before), settingsOf(result.after));
    if (Object.keys(changed).length > 0) {
      await recordAct(connection, { kind: 'client_updated', operator, clientId, detail: changed });
    }
    return { client: result.after, changed, hasNamesake };
  });
}

/** The old and the new value of each setting that changed. */
export type Changes = Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>;

function differences(before: object, after: object): Changes {
  const earlier = new Map<string, unknown>(Object.entries(before));
  const changed = Object.entries(after).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(earlier.get(name)),
  );
  return Object.fromEntries(changed.map(([name, to]) => [name, { from: earlier.get(name), to }]));
}

/**
 * Deletes an application with its secrets and authorizations. It is blocked first, which refuses its tokens at once; then
 * its authorizations are revoked in batches, since there may be millions.
 *
 * @returns how many authorizations were revoked; null when there is no such application
 */
export async function removeClient(
  pool: pg.Pool,
  clientId: string,
  operator: string,
  progress: (revoked: number) => void,
): Promise<number | null> {
  if ((await setStatus(pool, 'client', clientId, 'blocked', operator)) === null) return null;
  const revoked = await revokeAll(pool, { clientId }, operator, progress);
  await audited(pool, { kind: 'client_deleted', operator, clientId }, async (connection) => {
    await nameOperator(connection, operator);
    return deleteClient(connection, clientId);
  });
  return revoked;
}
