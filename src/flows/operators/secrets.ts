import type pg from 'pg';
import { sha256 } from '../../secrets/digest.ts';
import { randomHex } from '../../secrets/random.ts';
import { recordAct } from '../../store/auditEvents.ts';
import { transaction } from '../../store/database/database.ts';
import { insertSecret, type Retirement, type SecretOwner, setSecretRetired } from '../../store/secrets.ts';

export { listSecrets, type SecretOwner } from '../../store/secrets.ts';

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
  return transaction(pool, (db) => makeSecret(db, owner, id, operator));
}

/** The same within the transaction of a registration. */
export async function makeSecret(
  db: pg.PoolClient,
  owner: SecretOwner,
  id: string,
  operator: string,
): Promise<NewSecret> {
  const [secretId, secret] = [randomHex(SECRET_ID_BYTES), randomHex(SECRET_BYTES)];
  await insertSecret(db, owner, id, secretId, sha256(secret));
  await recordAct(db, { kind: `${owner}_secret_added`, operator, ...about(owner, id, secretId) });
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
  return transaction(pool, async (db) => {
    const act = { kind: `${owner}_secret_retired`, operator, ...about(owner, id, secretId) } as const;
    const result = await setSecretRetired(db, owner, id, secretId, force);
    if (result.retired) await recordAct(db, act);
    return result;
  });
}

/** What an act on a secret was done to. */
function about(owner: SecretOwner, id: string, secretId: string) {
  return { [`${owner}Id`]: id, detail: { secret_id: secretId } };
}
