import { z } from 'zod';
import { OperatorError } from '../rules/common/error.ts';
import { EXPIRING_TABLES, removeAllExpired, removeUncountedPayments } from '../store/common/expired.ts';
import { noteEndings } from '../store/operate/endings.ts';
import {
  analyzeTrail,
  countStrays,
  ownsTables,
  preparePartitions,
  pruneAuditPartitions,
} from '../store/schema/auditPartitions.ts';
import { schemaState } from '../store/schema/schemaState.ts';
import { confirmPruning, PARTITION_BUSY } from './audit.ts';
import { intUpTo } from './fields.ts';
import { operation } from './operation.ts';

const NOT_OWNER = 'only the owner of the tables may create, drop and analyze partitions of the audit trail';

/** Routine maintenance of a database. Each step is its own transaction, repeatable, and safe while servers run. */
export const maintain = operation({
  summary:
    'remove expired rows and create the coming partitions of the audit trail; for cron, as the owner of the tables',
  input: z.strictObject({
    keep: intUpTo(9_999, 'months')
      .optional()
      .describe('also drop older months of the audit trail, but keep this number of months before this one'),
  }),
  output: z.object({
    expired: z
      .record(z.enum([...EXPIRING_TABLES, 'payments']), z.int())
      .describe('expired rows that were removed, by table'),
    made: z.array(z.string()).readonly().describe('partitions of the trail that were created'),
    pruned: z.array(z.string()).readonly().describe('dropped months of the trail, such as `2026-11`'),
    ended: z.int().describe('authorizations whose end, or end in 30 days, was written to the trail'),
    strays: z.int().describe('rows of the trail that belong to no month'),
    analyzed: z.boolean(),
    leftUndone: z.array(z.string()).describe('tasks that were not done, one sentence each'),
  }),
  effect: 'destroys',
  async run(context, { keep }) {
    const { db: pool, operator, warn } = context;
    const { version, known, text, remedy } = await schemaState(pool);
    if (version !== known) throw new OperatorError('state', `${text}: ${remedy}`);
    if (keep !== undefined) await confirmPruning(context, keep);
    const expired = {
      sessions: 0,
      rejections: 0,
      operator_sessions: 0,
      refusals: 0,
      throttles: 0,
      payments: 0,
    };
    for (const table of EXPIRING_TABLES) expired[table] = await removeAllExpired(pool, table);
    if (!(await ownsTables(pool))) {
      warn(`not done: ${NOT_OWNER}`);
      return { expired, made: [], pruned: [], ended: 0, strays: 0, analyzed: false, leftUndone: [NOT_OWNER] };
    }
    expired.payments = await removeUncountedPayments(pool);
    const ended = await noteEndings(pool);
    const { done: made, busy } = await preparePartitions(pool);
    const pruned =
      keep === undefined ? { months: [], busy: false } : await pruneAuditPartitions(pool, keep, operator);
    await analyzeTrail(pool);
    const { strays } = await countStrays(pool);
    const leftUndone = busy || pruned.busy ? [PARTITION_BUSY] : [];
    for (const sentence of leftUndone) warn(`not done: ${sentence}`);
    return { expired, made, pruned: pruned.months, ended, strays, analyzed: true, leftUndone };
  },
});
