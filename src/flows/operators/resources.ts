import type pg from 'pg';
import { checkName } from '../../rules/registration.ts';
import { randomId } from '../../secrets/random.ts';
import { recordAct } from '../../store/auditEvents.ts';
import { transaction } from '../../store/database/database.ts';
import { deleteResource, insertResource } from '../../store/resources.ts';
import { audited } from './audit.ts';
import { makeSecret } from './secrets.ts';

export { findResource, listResources, type Resource } from '../../store/resources.ts';

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

/** Deletes a resource server with its secrets. @returns whether there was one */
export function removeResource(pool: pg.Pool, resourceId: string, operator: string): Promise<boolean> {
  const act = { kind: 'resource_deleted', operator, resourceId } as const;
  return audited(pool, act, (db) => deleteResource(db, resourceId));
}
