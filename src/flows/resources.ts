import type pg from 'pg';
import { noteAct } from '../store/auditEvents.ts';
import { transaction } from '../store/database.ts';
import { deleteResource, markResourceStatus, type Resource } from '../store/resources.ts';

/** Blocks or unblocks a resource server: while it is blocked, its secrets are wrong ones. @returns whether there is one */
export function setResourceStatus(
  pool: pg.Pool,
  resourceId: string,
  status: Resource['status'],
  operator: string,
): Promise<boolean> {
  return transaction(pool, async (connection) => {
    const found = await markResourceStatus(connection, resourceId, status);
    const kind = status === 'blocked' ? 'resource_blocked' : 'resource_unblocked';
    if (found) await noteAct(connection, { kind, operator, resourceId });
    return found;
  });
}

/** Deletes a resource server with its secrets. @returns whether there was one */
export function removeResource(pool: pg.Pool, resourceId: string, operator: string): Promise<boolean> {
  return transaction(pool, async (connection) => {
    const found = await deleteResource(connection, resourceId);
    if (found) await noteAct(connection, { kind: 'resource_deleted', operator, resourceId });
    return found;
  });
}
