import type pg from 'pg';
import { checkName } from '../rules/registration.ts';
import { randomId } from '../secrets/random.ts';
import { recordAct } from '../store/auditEvents.ts';
import { transaction } from '../store/database.ts';
import { deleteResource, insertResource, type Resource } from '../store/resources.ts';
import { updateStatus } from '../store/status.ts';
import { makeSecret } from './secrets.ts';

export { findResource, listResources, type Resource } from '../store/resources.ts';

/** Registers a server of the payment API for introspection. @throws {RegistrationError} */
export async function registerResource(
  pool: pg.Pool,
  name: string,
  operator: string,
): Promise<{ resourceId: string; resourceSecret: string }> {
  checkName(name);
  const resourceId = randomId();
  return transaction(pool, async (db) => {
    await insertResource(db, resourceId, name);
    await recordAct(db, { kind: 'resource_created', operator, resourceId, detail: { name } });
    const { secret } = await makeSecret(db, 'resource', resourceId, operator);
    return { resourceId, resourceSecret: secret };
  });
}

/**
 * Blocks or unblocks a resource server: while it is blocked, its secrets are wrong ones.
 *
 * @returns whether it was otherwise before; null when there is none
 */
export function setResourceStatus(
  pool: pg.Pool,
  resourceId: string,
  status: Resource['status'],
  operator: string,
): Promise<boolean | null> {
  return transaction(pool, async (connection) => {
    const changed = await updateStatus(connection, 'resource', resourceId, status);
    const kind = status === 'blocked' ? 'resource_blocked' : 'resource_unblocked';
    if (changed) await recordAct(connection, { kind, operator, resourceId });
    return changed;
  });
}

/** Deletes a resource server with its secrets. @returns whether there was one */
export function removeResource(pool: pg.Pool, resourceId: string, operator: string): Promise<boolean> {
  return transaction(pool, async (connection) => {
    const found = await deleteResource(connection, resourceId);
    if (found) await recordAct(connection, { kind: 'resource_deleted', operator, resourceId });
    return found;
  });
}
