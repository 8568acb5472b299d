import type pg from 'pg';
import { z } from 'zod';
import { checkExistingSecret } from '../rules/account/registration.ts';
import { OperatorError } from '../rules/common/error.ts';
import type { Status } from '../rules/request/client.ts';
import { sha256 } from '../secrets/digest.ts';
import { randomHex } from '../secrets/random.ts';
import { type Actor, recordAct } from '../store/common/auditEvents.ts';
import { type SecretOwner, secretStatements } from '../store/common/secrets.ts';
import { transaction } from '../store/database/database.ts';
import { REGISTRATION_STATEMENTS } from '../store/operate/registered.ts';
import { runAudited } from './audit.ts';
import { ID, OPTIONAL_FLAG, STATUS, text } from './fields.ts';
import { ensureFound, listOperation, operation } from './operation.ts';

// Operations that applications and resource servers have alike.

/** `client.block`, `resource.unblock` and the like: each takes effect with an endpoint's next statement. The result also has `changed`. */
export function blockOperations(owner: SecretOwner, summaries: { block: string; unblock: string }) {
  const key: string = `${owner}Id`;
  const output: z.ZodObject = z.object({ [key]: z.string(), status: STATUS });
  const to = (verb: 'block' | 'unblock', status: Status) =>
    operation({
      summary: summaries[verb],
      input: z.strictObject({ [key]: ID }),
      output,
      async run({ db, operator }, { [key]: id = '' }) {
        const act = { kind: `${owner}_${verb}ed`, operator, [key]: id } as const;
        const changed = await runAudited(db, act, async (connection) => {
          return (
            (await REGISTRATION_STATEMENTS[owner].setStatus(connection, { id, status }))?.changed ?? null
          );
        });
        return { [key]: id, status, changed: ensureFound(changed, owner, id) };
      },
    });
  return [to('block', 'blocked'), to('unblock', 'active')] as const;
}

/** Several secrets may be live at once, to replace one without a break. @param checkUse throws if the owner needs none */
export function secretOperations<Owner>(
  owner: SecretOwner,
  requireOwner: (db: pg.Pool, id: string) => Promise<Owner>,
  checkUse: (found: Owner) => void = () => {},
) {
  const key: string = `${owner}Id`;
  const named = z.strictObject<Record<string, z.ZodString>>({ [key]: ID });
  return {
    add: operation({
      summary: 'add a secret; a new one is shown only once',
      input: named.extend({
        secret: SECRET,
        force: OPTIONAL_FLAG.describe('accept a weak secret'),
      }),
      output: z.object({
        [key]: z.string(),
        secretId: z.string(),
        [`${owner}Secret`]: z.string().optional().describe('the new secret, shown only once'),
      }),
      async run({ db: pool, operator }, { [key]: id = '', secret: existing, force }) {
        checkUse(await requireOwner(pool, id));
        const { secretId, secret } = await transaction(pool, (db) =>
          makeSecret(db, owner, id, operator, existing, Boolean(force)),
        );
        return { [key]: id, secretId, [`${owner}Secret`]: existing === undefined ? secret : undefined };
      },
    }),
    list: listOperation({
      summary: 'list the secrets, with id, creation and last use',
      input: named,
      output: z.object({
        secretId: z.string(),
        createdAt: z.date(),
        lastUsedOn: z.string().nullable(),
        retiredAt: z.date().nullable(),
      }),
      async run({ db }, { [key]: id = '' }) {
        await requireOwner(db, id);
        return [await secretStatements[owner].list(db, { ownerId: id })];
      },
    }),
    retire: operation({
      summary: 'stop accepting a secret',
      input: named.extend({ secretId: text('secret-id') }),
      output: z.object({ [key]: z.string(), secretId: z.string(), status: z.literal('retired') }),
      asks: true,
      async run({ db, operator, confirm }, { [key]: id = '', secretId = '' }) {
        const detail = { secret_id: secretId };
        const act = { kind: `${owner}_secret_retired`, operator, [key]: id, detail } as const;
        /** @returns false if the last live one would have to be forced, null if it is not live */
        const retire = (force: boolean) =>
          runAudited(db, act, async (connection) => {
            const secret = { ownerId: id, secretId, force };
            const { found, retired } = await secretStatements[owner].retire(connection, secret);
            return found ? retired : null;
          });
        const retired = await retire(false);
        if (retired === null)
          throw new OperatorError('not_found', `the ${owner} ${id} has no live secret ${secretId}`);
        if (!retired) {
          const deed = `retire the last live secret of ${id}, which is refused until it has another`;
          await confirm(async () => ({ deed, count: 1 }));
          await retire(true);
        }
        return { [key]: id, secretId, status: 'retired' as const };
      },
    }),
  };
}

export const SECRET = z
  .string()
  .optional()
  .describe('use this existing secret, such as a secret manager’s, instead of a new one');

/**
 * Stores a secret, by default a new one, shown only once; the others stay valid until retired.
 * @throws {OperatorError} if the existing one is weak, without `force`
 */
export async function makeSecret(
  db: pg.PoolClient,
  owner: SecretOwner,
  id: string,
  operator: Actor,
  existing?: string,
  force = false,
) {
  const weak = existing !== undefined && checkExistingSecret('secret', existing);
  if (weak && !force) throw new OperatorError('refused_value', weak, 'secret');
  const [secretId, secret] = [randomHex(4), existing ?? randomHex(32)];
  if ((await secretStatements[owner].insert(db, { ownerId: id, secretId, secretHash: sha256(secret) })) === 0)
    throw new OperatorError('state', `${id} has or had this secret: add another one`);
  const detail = { secret_id: secretId };
  await recordAct(db, { kind: `${owner}_secret_added`, operator, [`${owner}Id`]: id, detail });
  return { secretId, secret };
}
