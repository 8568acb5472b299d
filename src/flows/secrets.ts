import type pg from 'pg';
import { sha256 } from '../secrets/digest.ts';
import { randomHex } from '../secrets/random.ts';
import { type AuditKind, recordAct } from '../store/auditEvents.ts';
import { transaction } from '../store/database.ts';
import { insertSecret, type Retirement, type SecretOwner, setSecretRetired } from '../store/secrets.ts';

export { listSecrets, type SecretOwner } from '../store/secrets.ts';

// The secrets of applications and of resource servers.
const SECRET_BYTES = 32;
const SECRET_ID_BYTES = 4;

/** A new secret, shown this once. */
export interface NewSecret {
  readonly secretId: string;
  readonly secret: string;
}

/** Adds a secret; the others stay valid until they are retired. */
export function addSecret(
  pool: pg.Pool,
  owner: SecretOwner,
  id: string,
  operator: string,
): Promise<NewSecret> {
  return transaction(pool, (connection) => makeSecret(connection, owner, id, operator));
}

/** The same within the transaction of a registration. */
export async function makeSecret(
  connection: pg.PoolClient,
  owner: SecretOwner,
  id: string,
  operator: string,
): Promise<NewSecret> {
  const [secretId, secret] = [randomHex(SECRET_ID_BYTES), randomHex(SECRET_BYTES)];
  await insertSecret(connection, owner, id, secretId, sha256(secret));
  await recordAct(connection, actOf(owner, id, 'secret_added', secretId, operator));
  return { secretId, secret };
}

/** Stops accepting a secret; the last live one only with `force`. */
export function retireSecret(
  pool: pg.Pool,
  owner: SecretOwner,
  id: string,
  secretId: string,
  force: boolean,
  operator: string,
): Promise<Retirement> {
  return transaction(pool, async (connection) => {
    const result = await setSecretRetired(connection, owner, id, secretId, force);
    if (result.retired) await recordAct(connection, actOf(owner, id, 'secret_retired', secretId, operator));
    return result;
  });
}

function actOf(
  owner: SecretOwner,
  id: string,
  what: 'secret_added' | 'secret_retired',
  secretId: string,
  operator: string,
) {
  const kind: AuditKind = `${owner}_${what}`;
  return { kind, operator, [`${owner}Id`]: id, detail: { secret_id: secretId } };
}
