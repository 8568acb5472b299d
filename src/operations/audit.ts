import type pg from 'pg';
import { z } from 'zod';
import { OperatorError } from '../rules/common/error.ts';
import { AUDIT_KEPT_MONTHS } from '../rules/common/lifetimes.ts';
import { recordOf } from '../rules/common/recordOf.ts';
import { STATEMENT_MS } from '../rules/common/timeouts.ts';
import { UUID } from '../secrets/tokens.ts';
import { AUDIT_KINDS, type OperatorAct, recordAct, setAuditOperator } from '../store/common/auditEvents.ts';
import { findClient } from '../store/common/clients.ts';
import { findUser } from '../store/common/users.ts';
import { transaction } from '../store/database/database.ts';
import { findAuditEvents, findTrailPart, formatCursor, parseCursor } from '../store/operate/auditTrail.ts';
import { findListedGrant } from '../store/operate/liveGrants.ts';
import { findResource } from '../store/operate/registered.ts';
import { countPrunableEvents, pruneAuditPartitions } from '../store/schema/auditPartitions.ts';
import { cursorField, ID, intUpTo, LOGIN, text, timeThat } from './fields.ts';
import { ensureFound, listOperation, type OperationContext, operation } from './operation.ts';

/** Makes an operator's change, under the operator's name, and records an effective one in the same transaction. */
export function runAudited<Result extends boolean | number | null>(
  pool: pg.Pool,
  act: OperatorAct,
  change: (connection: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  return transaction(pool, async (connection) => {
    await setAuditOperator(connection, act.operator);
    const changed = await change(connection);
    if (changed) await recordAct(connection, act);
    return changed;
  });
}

const TEXT = z.string().nullable();
export const EVENT = z.object({
  id: z.string(),
  at: z.date(),
  outcome: z.string().describe('may be a kind that only a newer build knows'),
  ...recordOf(['userId', 'login', 'externalId', 'clientId', 'clientName'], TEXT),
  ...recordOf(['resourceId', 'instanceName', 'grantId', 'scope'], TEXT),
  limits: z.unknown(),
  ...recordOf(['address', 'reference', 'operator'], TEXT),
  detail: z.unknown(),
});

const uuid = (error: string) => ID.toLowerCase().regex(UUID, error);

export const show = listOperation({
  summary: 'show the events of authorizations, sign-ins and operators, oldest first',
  input: z
    .strictObject({
      login: LOGIN.exactOptional().describe('show the events of this user (login or user_id)'),
      userId: uuid('Not a user_id: pass a login as `login`.')
        .exactOptional()
        .describe('show the events of this user, even if deleted'),
      clientId: ID.exactOptional().describe('show the events of this application, even if deleted'),
      grantId: uuid('Not a grant_id.').exactOptional().describe('show the events of this authorization'),
      resourceId: ID.exactOptional().describe('show the events of this resource server, even if deleted'),
      reference: text('reference')
        .exactOptional()
        .describe('show the events of the request with this reference, which error pages and the log have'),
      outcome: z
        .enum(AUDIT_KINDS, `Must be one of ${AUDIT_KINDS.join(', ')}.`)
        .exactOptional()
        .meta({ title: 'kind', description: 'show the events of this kind, such as client_blocked' }),
      since: timeThat('show events since this day (UTC) or time, such as 2026-11-20 or 2026-11-20T09:30:00Z'),
      until: timeThat('show events before this day (UTC) or time'),
      after: cursorField(/^-?\d{1,17}\.\d{1,9},\d{1,4}$/),
      limit: intUpTo(999_999_999, 'number')
        .exactOptional()
        .describe('maximum number of events: the newest, or the first after a cursor'),
    })
    .refine((filter) => Object.keys(filter).length > 0, 'missing filter: pass at least one of {fields}'),
  output: EVENT,
  async run({ db, token, warn }, { login, limit = null, ...filter }) {
    const user = login === undefined ? null : ensureFound(await findUser(db, login), 'user', login);
    if (user !== null && filter.userId !== undefined && filter.userId !== user.userId)
      throw new OperatorError('invalid_field', `user_id: is not that of ${user.login}`, 'user_id');
    // The trail is indexed by users, not by grants.
    const owner = filter.grantId === undefined ? null : await findListedGrant(db, filter.grantId);
    const userId = user?.userId ?? filter.userId ?? owner?.userId ?? null;
    const { clientId, grantId, resourceId, reference, since, after } = filter;
    // A mistyped id finds nothing, like one without events.
    if (!token && clientId !== undefined && (await findClient(db, clientId)) === null)
      warn(`there is no application ${clientId} now`);
    if (!token && resourceId !== undefined && (await findResource(db, { resourceId })) === null)
      warn(`there is no resource server ${resourceId} now`);
    // No index has these: only a command may take the time to read the whole trail.
    if (token && !(userId ?? since ?? after) && (clientId ?? grantId ?? resourceId ?? reference))
      throw new OperatorError('invalid_field', 'since: is missing, which such a search needs', 'since');
    // So that PostgreSQL need not sort what a page of the API leaves out.
    const [first, most] = token && limit === null ? [{ after: '0.0,0' }, MAX_EVENTS_AT_ONCE] : [{}, limit];
    return findAuditEvents(db, { ...filter, userId, ...first }, most);
  },
  after: ({ after }) => after,
});

export const MAX_EVENTS_AT_ONCE = 1_000;

const CURSOR = z
  .string()
  .regex(/^\d{1,18}(\.\d{1,18}){3,4}$/, 'not a cursor: use the last one that you received')
  .transform(parseCursor);
const NOT_OURS =
  'the cursor is from another database, or from this one before a failover or restore: start without one, or retry later';

export const next = operation({
  summary: 'show the events since a cursor, and the next cursor; without one, only the next cursor',
  input: z.strictObject({ after: CURSOR.optional().meta({ title: 'cursor' }) }),
  output: z.object({
    events: z.array(EVENT),
    cursor: z.string(),
    completeUntil: z.date().describe('all events before this were shown; an open transaction holds it back'),
  }),
  effect: 'reads',
  async run({ db }, { after = null }) {
    const part = await findTrailPart(db, after, MAX_EVENTS_AT_ONCE);
    if (part === null) throw new OperatorError('unknown_after', NOT_OURS, 'after');
    // An event is at most a statement older than its transaction, which gets its number at its first lock.
    const completeUntil = new Date(Number(part.cursor.since / 1000n) - STATEMENT_MS);
    return { events: part.events, cursor: formatCursor(part.cursor), completeUntil };
  },
});

export const PARTITION_BUSY =
  'a partition of the audit trail is being read, most likely by a backup; try again later';

export const prune = operation({
  summary: 'drop old months of the audit trail; run as the owner of the tables',
  input: z.strictObject({
    keep: intUpTo(9_999, 'months')
      .default(AUDIT_KEPT_MONTHS)
      .describe('number of whole months before this one to keep'),
  }),
  output: z.object({ months: z.array(z.string()).readonly() }),
  effect: 'destroys',
  async run(context, { keep }) {
    await confirmPruning(context, keep);
    const { months, busy } = await pruneAuditPartitions(context.db, keep, context.operator);
    if (!busy) return { months };
    const dropped = months.map((month) => `dropped ${month}\n`).join('');
    throw new OperatorError('state', `${dropped}${PARTITION_BUSY}`);
  },
});

export function confirmPruning({ db, confirm }: OperationContext, keep: number): Promise<void> {
  return confirm(async () => {
    const { rows = 0, months } = (await countPrunableEvents(db, { months: keep }))[0] ?? {};
    const counted = `${rows} row${rows === 1 ? '' : 's'}`;
    return { deed: `drop ${counted} of the audit trail${months ? `, all of ${months}` : ''}`, count: rows };
  });
}
