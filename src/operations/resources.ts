import type pg from 'pg';
import { z } from 'zod';
import { checkClientId, checkName } from '../rules/account/registration.ts';
import { OperatorError } from '../rules/common/error.ts';
import { randomId } from '../secrets/random.ts';
import { recordAct } from '../store/common/auditEvents.ts';
import { transaction } from '../store/database/database.ts';
import {
  findResource,
  insertResource,
  listResources,
  REGISTRATION_STATEMENTS,
} from '../store/operate/registered.ts';
import { runAudited } from './audit.ts';
import { ID, LIST_FIELDS, STATUS, text } from './fields.ts';
import { ensureFound, listOperation, operation } from './operation.ts';
import { blockOperations, makeSecret, secretOperations } from './registered.ts';

const RESOURCE_ID = z.strictObject({ resourceId: ID });
const RESOURCE = z.object({ resourceId: z.string(), name: z.string(), status: STATUS });

export const create = operation({
  summary: 'register a resource server; its secret, for HTTP Basic, is shown only once',
  input: z.strictObject({
    name: text('name').describe('a name for operators'),
    id: text('id').optional().describe('use this id instead of a new one'),
  }),
  output: z.object({ resourceId: z.string(), resourceSecret: z.string() }),
  async run({ db: pool, operator }, { name, id: resourceId = randomId() }) {
    checkName(name);
    checkClientId(resourceId, 'id');
    return transaction(pool, async (db) => {
      if ((await insertResource(db, { resourceId, name })) === 0)
        throw new OperatorError('state', `the id ${resourceId} is taken`);
      await recordAct(db, { kind: 'resource_created', operator, resourceId, detail: { name } });
      const { secret } = await makeSecret(db, 'resource', resourceId, operator);
      return { resourceId, resourceSecret: secret };
    });
  },
});

export const list = listOperation({
  summary: 'list the resource servers',
  input: z.strictObject(LIST_FIELDS),
  output: RESOURCE,
  run: async ({ db }, filter) => listResources(db, filter),
  after: ({ resourceId }) => resourceId,
});

export const show = operation({
  summary: 'show a resource server',
  input: RESOURCE_ID,
  output: RESOURCE,
  effect: 'reads',
  run: ({ db }, { resourceId }) => requireResource(db, resourceId),
});

export const [block, unblock] = blockOperations('resource', {
  block: 'block a resource server: refuse it, like a wrong secret, until it is unblocked',
  unblock: 'unblock a resource server',
});

export const remove = operation({
  summary: 'delete a resource server with its secrets',
  input: RESOURCE_ID,
  output: z.object({ resourceId: z.string(), status: z.literal('deleted') }),
  effect: 'destroys',
  async run({ db, operator, confirm }, { resourceId }) {
    const { name } = await requireResource(db, resourceId);
    await confirm(async () => ({ deed: `delete the resource server ${name} with its secrets`, count: 1 }));
    const act = { kind: 'resource_deleted', operator, resourceId } as const;
    await runAudited(db, act, (connection) =>
      REGISTRATION_STATEMENTS.resource.remove(connection, { id: resourceId }),
    );
    return { resourceId, status: 'deleted' as const };
  },
});

export const secret = secretOperations('resource', requireResource);

async function requireResource(db: pg.Pool, id: string) {
  return ensureFound(await findResource(db, { resourceId: id }), 'resource', id);
}
