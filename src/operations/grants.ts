import type pg from 'pg';
import { z } from 'zod';
import { grantState } from '../rules/account/grantState.ts';
import { OperatorError } from '../rules/common/error.ts';
import { tokenExpiresAt } from '../rules/common/lifetimes.ts';
import { recordOf } from '../rules/common/recordOf.ts';
import { REQUEST_DEADLINE_MS } from '../rules/common/timeouts.ts';
import { rightKeyOf } from '../rules/request/scopeRules.ts';
import { formatScope, parseScope } from '../rules/scope/scope.ts';
import { lowerScope } from '../rules/spending/lowerScope.ts';
import type { Digest } from '../secrets/digest.ts';
import { UUID } from '../secrets/tokens.ts';
import { type AuditKind, actorParameters } from '../store/common/auditEvents.ts';
import { findClient } from '../store/common/clients.ts';
import type { Grant } from '../store/common/grants.ts';
import { findSpent } from '../store/common/spent.ts';
import { findUser } from '../store/common/users.ts';
import * as store from '../store/operate/liveGrants.ts';
import { lowerGrant } from '../store/operate/lowering.ts';
import { REGISTRATION_STATEMENTS } from '../store/operate/registered.ts';
import { MAX_GRANTS_A_STATEMENT, revokeGrants } from '../store/token/revocations.ts';
import { runAudited } from './audit.ts';
import { cursorField, ID, LIMIT, LOGIN, text, timeThat } from './fields.ts';
import {
  ensureFound,
  type Loss,
  listOperation,
  type OperationContext,
  operation,
  type RowPages,
  requireRole,
} from './operation.ts';

export const GRANT_VIEW = z.object({
  ...recordOf(['grantId', 'clientId'], z.string()),
  instanceName: z.string().nullable(),
  ...recordOf(['scope', 'state'], z.string()),
  confirmedAt: z.date(),
  ...recordOf(['issuedAt', 'expiresAt'], z.date().nullable()),
  lastUsedOn: z.string().nullable(),
});

/** The fields of {@link GRANT_VIEW}, plus those of the row. */
export function describeGrant<Row extends Grant>(grant: Row) {
  const issuedAt = grant.tokenIssuedAt;
  const expiresAt = issuedAt && tokenExpiresAt(issuedAt);
  return { ...grant, state: grantState(grant, grant.now), issuedAt, expiresAt };
}

export const list = listOperation({
  summary: 'list the authorizations of a user or an application, newest first',
  input: z
    .strictObject({
      login: LOGIN.optional().describe('list the authorizations of this user (login or user_id)'),
      clientId: ID.optional().describe('list the authorizations of this application; with a user, of both'),
      after: cursorField(/^\d{1,17}\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      limit: LIMIT,
    })
    .refine(({ login, clientId }) => (login ?? clientId) !== undefined, 'pass `login`, `client_id` or both'),
  output: z.object({
    login: z.string().optional().describe('only if the request named no user'),
    ...GRANT_VIEW.shape,
    clientName: z.string(),
  }),
  async run({ db }, { limit = null, ...which }) {
    return described(store.listGrants(db, await filterOf(db, which), limit), which.login === undefined);
  },
  after: ({ after }) => after,
});

async function* described(pages: AsyncIterable<store.ListedGrant[]>, withLogin: boolean) {
  for await (const page of pages)
    yield page.map(({ login, ...grant }) => ({ ...(withLogin && { login }), ...describeGrant(grant) }));
}

/** For support: a payment names its grant. */
export const show = operation({
  summary: 'show an authorization and its user',
  input: z.strictObject({ grantId: text('grant-id') }),
  output: z.object({
    ...GRANT_VIEW.shape,
    ...recordOf(['clientName', 'userId', 'login'], z.string()),
    externalId: z.string().nullable(),
    spent: z
      .array(z.object({ right: z.string(), used: z.string(), freeAgain: z.date().nullable() }))
      .describe(
        'rights that have spent something (`SPENDING`), and when the oldest payment no longer counts',
      ),
  }),
  effect: 'reads',
  async run({ db }, { grantId }) {
    const grant = describeGrant(await requireGrant(db, grantId));
    return { ...grant, spent: await describeSpent(db, grant) };
  },
});

async function describeSpent(db: pg.Pool, { grantId, scope }: ReturnType<typeof describeGrant>) {
  const rights = parseScope(scope, '');
  const [spent] = await findSpent(db, [{ grantId, rights }]);
  return rights.flatMap((right) => {
    const { used, freeAgain } = spent?.get(rightKeyOf(right)) ?? {};
    return used === undefined ? [] : { right: formatScope([right]), used, freeAgain: freeAgain ?? null };
  });
}

async function requireGrant(db: pg.Pool, grantId: string) {
  const grant = UUID.test(grantId.toLowerCase()) ? await store.findListedGrant(db, grantId) : null;
  return ensureFound(grant, 'grant', grantId);
}

export const lower = operation({
  summary: 'leave an authorization fewer rights or lower limits; its code and token go on',
  input: z.strictObject({
    grantId: text('grant-id'),
    scope: text('rights').describe(
      'what is left: the present scope with smaller sums, a largest payment, an earlier last day, or without a right',
    ),
  }),
  output: z.object(recordOf(['grantId', 'scope'], z.string())),
  effect: 'supports',
  async run({ db, operator, offer }, { grantId, scope: asked }) {
    const { scope: earlier, now } = await requireGrant(db, grantId);
    const scope = lowerScope(earlier, asked, await offer(), now);
    if (scope === earlier) return { grantId, scope };
    const by = actorParameters(operator, { replaces: earlier });
    const decideBy = performance.now() + REQUEST_DEADLINE_MS;
    if (!(await lowerGrant(db, { grantId, earlier, scope, ...by, decideBy })).lowered)
      throw new OperatorError('state', `the authorization ${grantId} has ended, or was changed meanwhile`);
    return { grantId, scope };
  },
});

const LINES = z.object({ name: z.string(), lines: z.custom<AsyncIterable<string>>() });

export const revoke = operation({
  summary:
    'revoke one authorization, or those of a user, application or period; codes and tokens stop working. Those of several users need the role destroys',
  input: z
    .strictObject({
      grantId: text('grant-id').optional(),
      login: LOGIN.optional().describe('revoke the authorizations of this user (login or user_id)'),
      clientId: ID.optional().describe('revoke the authorizations of this application; with a user, of both'),
      since: timeThat('revoke the authorizations granted from this day (UTC) or time on'),
      until: timeThat('revoke the authorizations granted before this day (UTC) or time'),
      trail: LINES.optional().describe(
        'revoke those that ended, were lowered or replaced according to this trail',
      ),
      hashes: LINES.optional().describe('revoke those of the imported tokens with these SHA-256'),
    })
    .refine(
      ({ grantId, ...many }) => (grantId === undefined) === Object.keys(many).length > 0,
      'pass what to revoke: {fields}; several must all match, and an id stands alone',
    )
    .refine(
      ({ trail, hashes, ...others }) => Object.keys(others).length === 0 || (trail ?? hashes) === undefined,
      'a file can’t be combined with other filters',
    ),
  output: z.object({
    ...recordOf(['grantId', 'login', 'clientId'], z.string().optional()),
    ...recordOf(['since', 'until'], z.date().optional()),
    ...recordOf(['trail', 'hashes'], z.string().optional()),
    revoked: z.int(),
  }),
  effect: 'supports',
  asks: true,
  async run(context, { trail, hashes, ...input }) {
    const isOfOne = (input.grantId ?? input.login) !== undefined;
    if (!isOfOne) requireRole(context, 'destroys');
    if (input.grantId !== undefined) {
      await requireGrant(context.db, input.grantId);
      return { ...input, revoked: await revokePages(context, [[input.grantId]]) };
    }
    const file = trail ?? hashes;
    if (file !== undefined) {
      const { name, lines } = file;
      const { owners, read, unreadable } = trail
        ? await findRevivedInFile(context.db, lines)
        : await findInFile(lines, readDigest, (digests) => store.findImportedGrants(context.db, { digests }));
      const [ids, people] = [[...owners.keys()].sort(), new Set(owners.values()).size];
      if (unreadable > 0)
        context.warn(`lines that can't be read: ${unreadable} in ${name}; they are ignored`);
      if (read === 0) context.warn(`${name} has nothing that ends an authorization`);
      await context.confirm(async () => lossFrom({ grants: ids.length, people }));
      const revoked = await revokePages(context, [ids]);
      return { ...input, [trail ? 'trail' : 'hashes']: name, revoked };
    }
    const which = await filterOf(context.db, input);
    await context.confirm(async () => lossFrom(await store.countLiveGrants(context.db, which)));
    return { ...input, revoked: await revokePages(context, store.findLiveGrants(context.db, which)) };
  },
});

/** Events per lookup: an audit trail may exceed memory. */
const CHUNK = 50_000;

const APPROVALS: readonly string[] = ['approved', 'approved_again'] satisfies AuditKind[];
const REVOCATIONS: readonly string[] = [
  'replayed',
  'revoked_by_user',
  'revoked_by_application',
  'revoked_by_operator',
] satisfies AuditKind[];
const LOWERING = 'lowered_by_operator' satisfies AuditKind;

/**
 * Looks up what the lines of a file name. @param read throws for a line that can't be read
 * @returns `owners`: the users of the found grants; `unreadable`: the number of such lines
 */
async function findInFile<Named>(
  lines: AsyncIterable<string>,
  read: (line: string) => Named | undefined,
  find: (named: Named[]) => Promise<readonly { id: string; userId: string }[]>,
) {
  const owners = new Map<string, string>();
  const counts = { read: 0, unreadable: 0 };
  let chunk: Named[] = [];
  const lookUp = async () => {
    for (const { id, userId } of await find(chunk)) owners.set(id, userId);
    chunk = [];
  };
  for await (const line of lines) {
    let named: Named | undefined;
    try {
      named = read(line);
    } catch {
      counts.unreadable += 1;
    }
    if (named === undefined) continue;
    counts.read += 1;
    chunk.push(named);
    if (chunk.length >= CHUNK) await lookUp();
  }
  await lookUp();
  return { owners, ...counts };
}

/** By the lines of `audit.next`. Of a grant's lowerings the last one counts: it left less than those before. */
async function findRevivedInFile(db: pg.Pool, lines: AsyncIterable<string>) {
  const lowerings = new Map<string, store.GrantEnd>();
  const found = await findInFile(lines, readEnd, async (ends) => {
    for (const end of ends) if (end.lowered !== null) lowerings.set(end.grantId, end);
    return store.findRevivedGrants(
      db,
      ends.filter(({ lowered }) => lowered === null),
    );
  });
  for (const { id, userId } of await store.findRevivedGrants(db, [...lowerings.values()]))
    found.owners.set(id, userId);
  return found;
}

/** A line of `audit.next`: it may have made live again, by a restore, what had ended. */
const readEnd = (line: string) => (line.startsWith('{') ? END.safeParse(JSON.parse(line)).data : undefined);

const readDigest = (line: string): Digest | undefined =>
  line.trim() ? `\\x${z.hash('sha256').parse(line.trim())}` : undefined;

const END = z
  .object({
    outcome: z.enum([...APPROVALS, ...REVOCATIONS, LOWERING]),
    grant_id: z.guid(),
    at: z.coerce.date(),
    scope: z.string().nullish(),
  })
  .transform(({ outcome, grant_id, at, scope = null }): store.GrantEnd => {
    const lowered = outcome === LOWERING ? scope : null;
    return { grantId: grant_id, at, isApproval: APPROVALS.includes(outcome), lowered };
  });

async function filterOf(db: pg.Pool, { login, ...rest }: store.GrantFilter & { login?: string | undefined }) {
  const user = login === undefined ? undefined : ensureFound(await findUser(db, login), 'user', login);
  if (rest.clientId !== undefined) ensureFound(await findClient(db, rest.clientId), 'client', rest.clientId);
  return { ...rest, userId: user?.userId };
}

/**
 * Deletes a user or an application, and revokes what they have; `block` comes first, so that no new authorization appears.
 * @param deed precedes the revocation, as `delete … and `
 */
export async function removeWithGrants(
  context: OperationContext,
  kind: 'client' | 'user',
  id: string,
  deed: string,
  block: () => Promise<unknown>,
  detail: object | null = null,
) {
  const { db, operator, confirm } = context;
  const its = { [`${kind}Id`]: id };
  await confirm(async () => lossFrom(await store.countLiveGrants(db, its), deed));
  await block();
  const revoked = await revokePages(context, store.findLiveGrants(db, its), { deleted: true });
  const act = { kind: `${kind}_deleted`, operator, ...its, detail } as const;
  await runAudited(db, act, (connection) => REGISTRATION_STATEMENTS[kind].remove(connection, { id }));
  return { status: 'deleted' as const, revoked };
}

/** @param deed precedes the revocation, as `delete … and ` */
function lossFrom({ grants, people }: { readonly grants: number; readonly people: number }, deed = ''): Loss {
  const counted = `${grants} ${grants === 1 ? 'authorization' : 'authorizations'}`;
  const of = people > 1 ? ` of ${people} people` : '';
  return { deed: `${deed}revoke ${counted}${of}`, count: deed === '' ? grants : 1 };
}

/** Revokes grants in the order of their keys, each batch in its own transaction, so it can be interrupted. */
async function revokePages(
  { db, operator, progress }: OperationContext,
  pages: RowPages<string>,
  detail: object | null = null,
) {
  const by = actorParameters(operator, detail);
  let revoked = 0;
  for await (const page of pages) {
    for (let from = 0; from < page.length; from += MAX_GRANTS_A_STATEMENT) {
      const grantIds = page.slice(from, from + MAX_GRANTS_A_STATEMENT);
      const decideBy = performance.now() + REQUEST_DEADLINE_MS;
      revoked += (await revokeGrants(db, { grantIds, ...by, decideBy })).revoked;
      await progress(revoked);
    }
  }
  return revoked;
}
