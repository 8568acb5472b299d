import type pg from 'pg';
import type { Client } from '../oauth/client.ts';
import { nameOperator, noteAct } from '../store/auditEvents.ts';
import { type ClientSettings, deleteClient, markClientStatus, updateClient } from '../store/clients.ts';
import { transaction } from '../store/database.ts';
import { checkClientSettings, refuseLookAlike, settingsOf } from './register.ts';
import { revokeAll } from './revokeAll.ts';

/**
 * Changes an application. Forms that were shown before decide nothing any more, and codes under way are refused.
 *
 * @param force also to a name that looks like something else
 * @returns the application, and what changed, by the names of the trail; undefined when there is none
 * @throws {RegistrationError}
 */
export async function changeClient(
  pool: pg.Pool,
  clientId: string,
  change: Partial<ClientSettings>,
  operator: string,
  { force = false }: { readonly force?: boolean } = {},
): Promise<{ client: Client; changed: Changes } | undefined> {
  checkClientSettings(change);
  if (change.name !== undefined && !force) await refuseLookAlike(pool, change.name, clientId);
  return transaction(pool, async (connection) => {
    const result = await updateClient(connection, clientId, change);
    if (result === undefined) return undefined;
    const changed = differences(settingsOf(result.before), settingsOf(result.after));
    if (Object.keys(changed).length > 0) {
      await noteAct(connection, { kind: 'client_updated', operator, clientId, detail: changed });
    }
    return { client: result.after, changed };
  });
}

/** From what to what, by setting. */
export type Changes = Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>;

function differences(before: object, after: object): Changes {
  const earlier = new Map<string, unknown>(Object.entries(before));
  const changed = Object.entries(after).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(earlier.get(name)),
  );
  return Object.fromEntries(changed.map(([name, to]) => [name, { from: earlier.get(name), to }]));
}

/** Blocks or unblocks an application; every endpoint sees it with its next statement. @returns whether there is one */
export function setClientStatus(
  pool: pg.Pool,
  clientId: string,
  status: Client['status'],
  operator: string,
): Promise<boolean> {
  return transaction(pool, async (connection) => {
    const found = await markClientStatus(connection, clientId, status);
    const kind = status === 'blocked' ? 'client_blocked' : 'client_unblocked';
    if (found) await noteAct(connection, { kind, operator, clientId });
    return found;
  });
}

/**
 * Deletes an application with its secrets and authorizations. It is blocked first, so that nothing new comes and its
 * tokens are refused from the first moment on, and what it may still do is taken back in batches: there may be millions.
 *
 * @returns how many authorizations were taken back; undefined when there is no such application
 */
export async function removeClient(
  pool: pg.Pool,
  clientId: string,
  operator: string,
  progress: (revoked: number) => void,
): Promise<number | undefined> {
  if (!(await setClientStatus(pool, clientId, 'blocked', operator))) return undefined;
  const revoked = await revokeAll(pool, { clientId }, operator, progress);
  await transaction(pool, async (connection) => {
    await nameOperator(connection, operator);
    if (await deleteClient(connection, clientId)) {
      await noteAct(connection, { kind: 'client_deleted', operator, clientId });
    }
  });
  return revoked;
}
