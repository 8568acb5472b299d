import type pg from 'pg';
import {
  type Changes,
  type Client,
  type ClientSettings,
  changesBetween,
  settingsOf,
} from '../../rules/client.ts';
import type { Logo } from '../../rules/logo.ts';
import { lookAlikeProblem } from '../../rules/lookAlike.ts';
import { checkClientSettings, RegistrationError } from '../../rules/registration.ts';
import { randomId } from '../../secrets/random.ts';
import { nameOperator, recordAct } from '../../store/auditEvents.ts';
import { writeLogo } from '../../store/clientLogos.ts';
import { deleteClient, insertClient, listClients, updateClient } from '../../store/clients.ts';
import { type Database, transaction } from '../../store/database/database.ts';
import { audited } from './audit.ts';
import { setStatus } from './blocking.ts';
import { revokeAll } from './grants.ts';
import { makeSecret } from './secrets.ts';

export { findClient, listClients } from '../../store/clients.ts';

/** What an operator sets of an application, the logo as a picture. */
type GivenSettings = Omit<ClientSettings, 'logo'> & { readonly logo: Logo | null };

/** An application to register (contract 2.1). */
export type NewClient = Omit<GivenSettings, 'site' | 'logo' | 'reviewed' | 'userLimits'> &
  Partial<GivenSettings> & { readonly verified: boolean };

/** A registered application; `clientSecret` is null without authenticity verification and is shown only once. */
export interface RegisteredClient {
  readonly clientId: string;
  readonly clientSecret: string | null;
  /** Whether another application has the very same name. */
  readonly hasNamesake: boolean;
}

/** How a name is judged. */
interface NameRules {
  /** Accepts one that could be mistaken for another. */
  readonly force?: boolean;
  /** What the operator calls the service. */
  readonly serviceNames?: readonly string[];
}

/** @throws {RegistrationError} */
export async function registerClient(
  pool: pg.Pool,
  client: NewClient,
  operator: string,
  rules: NameRules = {},
): Promise<RegisteredClient> {
  const { verified, logo = null, ...given } = client;
  const settings = { site: null, reviewed: false, userLimits: false, ...given, logo: logo?.file ?? null };
  const hasNamesake = await checkSettings(pool, settings, rules);
  const clientId = randomId();
  const detail = { ...settingsOf(settings), verified };
  return transaction(pool, async (db) => {
    await insertClient(db, { clientId, ...settings, verified });
    if (logo !== null) await writeLogo(db, clientId, logo);
    await recordAct(db, { kind: 'client_created', operator, clientId, detail });
    const clientSecret = verified ? (await makeSecret(db, 'client', clientId, operator)).secret : null;
    return { clientId, clientSecret, hasNamesake };
  });
}

/**
 * Checks settings before they are written; a name must not be mistaken for another.
 *
 * @param clientId the application that is changed; undefined for a new one
 * @returns whether another application has the very same name
 * @throws {RegistrationError}
 */
async function checkSettings(
  db: Database,
  settings: Partial<ClientSettings>,
  { force = false, serviceNames }: NameRules,
  clientId?: string,
): Promise<boolean> {
  checkClientSettings(settings);
  const { name } = settings;
  if (name === undefined) return false;
  const others = (await listClients(db)).filter((client) => client.clientId !== clientId);
  const names = others.map((client) => client.name);
  const problem = force ? undefined : lookAlikeProblem(name, names, serviceNames);
  if (problem !== undefined)
    throw new RegistrationError(`the name ${problem}: choose another, or say --force`);
  return names.includes(name);
}

/**
 * Changes an application. Consent pages already shown and codes not yet exchanged become invalid.
 *
 * @returns null when there is no such application
 * @throws {RegistrationError}
 */
export async function changeClient(
  pool: pg.Pool,
  clientId: string,
  change: Partial<GivenSettings>,
  operator: string,
  rules: NameRules = {},
): Promise<{ client: Client; changed: Changes; hasNamesake: boolean } | null> {
  const { logo, ...others } = change;
  const settings = { ...others, ...(logo !== undefined && { logo: logo?.file ?? null }) };
  const hasNamesake = await checkSettings(pool, settings, rules, clientId);
  return transaction(pool, async (db) => {
    const result = await updateClient(db, clientId, settings);
    if (result === null) return null;
    if (logo !== undefined) await writeLogo(db, clientId, logo);
    const changed = changesBetween(result.before, result.after);
    if (Object.keys(changed).length > 0) {
      await recordAct(db, { kind: 'client_updated', operator, clientId, detail: changed });
    }
    return { client: result.after, changed, hasNamesake };
  });
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
