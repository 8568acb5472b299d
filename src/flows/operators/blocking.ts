import type pg from 'pg';
import type { Status } from '../../rules/client.ts';
import { updateStatus } from '../../store/blocking.ts';
import type { SecretOwner } from '../../store/secrets.ts';
import { audited } from './audit.ts';

/**
 * Blocks or unblocks an application or a resource server; every endpoint sees it with its next statement.
 *
 * @returns whether it was otherwise before; null when there is none
 */
export function setStatus(
  pool: pg.Pool,
  owner: SecretOwner,
  id: string,
  status: Status,
  operator: string,
): Promise<boolean | null> {
  const kind = status === 'blocked' ? (`${owner}_blocked` as const) : (`${owner}_unblocked` as const);
  return audited(pool, { kind, operator, [`${owner}Id`]: id }, (db) => updateStatus(db, owner, id, status));
}
