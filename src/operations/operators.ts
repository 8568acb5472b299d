import { z } from 'zod';
import { checkOperatorName } from '../rules/account/registration.ts';
import { ACCESS_LEVELS } from '../rules/account/role.ts';
import { OperatorError } from '../rules/common/error.ts';
import { sha256 } from '../secrets/digest.ts';
import { newOperatorToken } from '../secrets/tokens.ts';
import { recordAct } from '../store/common/auditEvents.ts';
import { transaction } from '../store/database/database.ts';
import { findOperators, insertOperator, listOperators, retireOperator } from '../store/operate/operators.ts';
import { runAudited } from './audit.ts';
import { intUpTo, LIST_FIELDS, text } from './fields.ts';
import { ensureFound, listOperation, operation, requireRole } from './operation.ts';

// Programs that call the operators' HTTP API (`admin/`).

const MAX_DAYS = 365;

const NAME = text('name');
const ROLE = z.enum(ACCESS_LEVELS, `Must be one of ${ACCESS_LEVELS.join(', ')}.`).meta({
  title: 'role',
  description:
    'reads: operations that only read; supports: also those that take access away; changes: also those that change; destroys: all operations',
});

const STATUS = z.enum(['active', 'expired', 'retired']);

/** An operator gives no higher role than its own, and for no longer. */
export const create = operation({
  summary: 'create an operator of the HTTP API; its token is shown only once',
  input: z.strictObject({
    name: NAME.describe('the name in the audit trail'),
    role: ROLE,
    days: intUpTo(MAX_DAYS, 'days')
      .default(90)
      .describe(`how long its token is accepted, 1 to ${MAX_DAYS}; at most as long as your own`),
  }),
  output: z.object({ name: NAME, role: ROLE, expiresAt: z.date(), operatorToken: z.string() }),
  async run({ db: pool, operator, token, commandNames }, { name, role, days }) {
    const others = (await findOperators(pool)).map((one) => one.name);
    checkOperatorName(name, others, commandNames);
    requireRole({ token }, role);
    const operatorToken = newOperatorToken();
    return transaction(pool, async (db) => {
      const given = { name, role, days, until: token?.expiresAt ?? null, tokenHash: sha256(operatorToken) };
      const made = await insertOperator(db, given);
      if (made === null)
        throw new OperatorError('state', `there is or was an operator ${name}: choose another name`);
      const detail = { name, role, expires_at: made.expiresAt };
      await recordAct(db, { kind: 'operator_created', operator, detail });
      return { ...made, operatorToken };
    });
  },
});

export const list = listOperation({
  summary: 'list the operators of the HTTP API',
  input: z.strictObject({
    ...LIST_FIELDS,
    status: STATUS.exactOptional().meta({
      title: 'status',
      description: 'list only active, expired or retired ones',
    }),
  }),
  output: z.object({
    name: NAME,
    role: ROLE,
    createdAt: z.date(),
    expiresAt: z.date(),
    lastUsedOn: z.string().nullable(),
    retiredAt: z.date().nullable(),
    status: STATUS,
  }),
  run: async ({ db }, filter) => listOperators(db, filter),
  after: ({ name }) => name,
});

export const retire = operation({
  summary: 'retire an operator of the HTTP API: refuse its token from now on',
  input: z.strictObject({ name: NAME }),
  output: z.object({ name: NAME, status: z.literal('retired') }),
  effect: 'destroys',
  async run({ db, operator, confirm }, { name }) {
    const isLive = (await findOperators(db)).some((one) => one.name === name && one.status !== 'retired');
    ensureFound(isLive || null, 'live operator outside of OPERATORS_FILE:', name);
    const deed = `retire the operator ${name}, whose token is then refused`;
    await confirm(async () => ({ deed, count: 1 }));
    const act = { kind: 'operator_retired', operator, detail: { name } } as const;
    await runAudited(db, act, (connection) => retireOperator(connection, { name }));
    return { name, status: 'retired' as const };
  },
});
