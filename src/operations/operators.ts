import { z } from 'zod';
import { checkName } from '../rules/account/registration.ts';
import { EFFECTS, permits } from '../rules/account/role.ts';
import { StateError } from '../rules/common/error.ts';
import { sha256 } from '../secrets/digest.ts';
import { newOperatorToken } from '../secrets/tokens.ts';
import { recordAct } from '../store/common/auditEvents.ts';
import { transaction } from '../store/database/database.ts';
import { insertOperator, listOperators, type Operator, retireOperator } from '../store/operate/operators.ts';
import { audited } from './audit.ts';
import { text, upTo } from './fields.ts';
import { ForbiddenError, found, listing, operation } from './operation.ts';

// Programs that call the operators' HTTP API (`admin/`).

const MAX_DAYS = 365;
const DEFAULT_DAYS = 90;

const NAME = text('name');
const ROLE = z.enum(EFFECTS, `There are: ${EFFECTS.join(', ')}.`).meta({
  title: 'role',
  description: 'what it may do: what reads; also what changes; or all, also what destroys',
});

export const create = operation({
  summary: 'create an operator of the HTTP API; its token is shown this once',
  input: z.strictObject({
    name: NAME.describe('the name in the audit trail'),
    role: ROLE,
    days: upTo(MAX_DAYS, 'days')
      .default(DEFAULT_DAYS)
      .describe(`how long its token is accepted, 1 to ${MAX_DAYS}`),
  }),
  output: z.object({ name: NAME, role: ROLE, expiresAt: z.date(), operatorToken: z.string() }),
  async run({ db: pool, operator, token }, { name, role, days }) {
    checkName(name);
    const operatorToken = newOperatorToken();
    return transaction(pool, async (db) => {
      const made = await insertOperator(db, { name, role, days, tokenHash: sha256(operatorToken) });
      if (made === null) throw new StateError(`there is or was an operator ${name}: choose another name`);
      if (token !== undefined) refuseMore(token, made);
      const detail = { name, role, expires_at: made.expiresAt };
      await recordAct(db, { kind: 'operator_created', operator, detail });
      return { ...made, operatorToken };
    });
  },
});

/** A token opens nothing for longer, or beyond, what it opens itself. @throws {ForbiddenError} */
function refuseMore(own: Pick<Operator, 'role' | 'expiresAt'>, given: Operator): void {
  const isMore = !permits(own.role, given.role) || given.expiresAt > own.expiresAt;
  const most = `role ${own.role}, until ${own.expiresAt.toISOString()}`;
  if (isMore) throw new ForbiddenError(`an operator gives others no more than it has: ${most}`);
}

export const list = listing({
  summary: 'list the operators of the HTTP API',
  input: z.strictObject({}),
  output: z.object({
    name: NAME,
    role: ROLE,
    createdAt: z.date(),
    expiresAt: z.date(),
    lastUsedOn: z.string().nullable(),
    retiredAt: z.date().nullable(),
  }),
  run: async ({ db }) => [await listOperators(db)],
});

export const retire = operation({
  summary: 'retire an operator of the HTTP API: refuse its token from now on',
  input: z.strictObject({ name: NAME }),
  output: z.object({ name: NAME, status: z.literal('retired') }),
  effect: 'destroys',
  async run({ db, operator, confirm }, { name }) {
    await confirm(async () => ({
      deed: `retire the operator ${name}, whose token is then refused`,
      count: 1,
    }));
    const act = { kind: 'operator_retired', operator, detail: { name } } as const;
    const retired = await audited(db, act, async (connection) => {
      return (await retireOperator(connection, { name })) && true;
    });
    found(retired, 'live operator', name);
    return { name, status: 'retired' as const };
  },
});
