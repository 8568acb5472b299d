import type pg from 'pg';
import { z } from 'zod';
import type { AuditKind } from '../store/common/auditEvents.ts';
import { findEndedGrants, type GrantEnd } from '../store/operate/liveGrants.ts';

/** Events per lookup: an audit trail may exceed memory. */
const CHUNK = 50_000;

const APPROVALS: readonly string[] = ['approved', 'approved_again'] satisfies AuditKind[];
const REVOCATIONS: readonly string[] = [
  'replayed',
  'revoked_by_user',
  'revoked_by_application',
  'revoked_by_operator',
] satisfies AuditKind[];

/**
 * Finds grants that a restore made live again. @param lines as `assent audit next` prints them; cursors are skipped
 * @returns sorted ids; the numbers of their users, of events that end a grant, and of truncated event lines
 */
export async function findRevived(pool: pg.Pool, lines: AsyncIterable<string>) {
  const owners = new Map<string, string>();
  const counts = { ends: 0, unreadable: 0 };
  let chunk: GrantEnd[] = [];
  const lookUp = async () => {
    for (const { id, userId } of await findEndedGrants(pool, chunk)) owners.set(id, userId);
    chunk = [];
  };
  for await (const line of lines) {
    if (!line.startsWith('{')) continue;
    let event: unknown;
    try {
      event = JSON.parse(line);
    } catch {
      counts.unreadable += 1;
      continue;
    }
    const end = END.safeParse(event).data;
    if (end === undefined) continue;
    counts.ends += 1;
    chunk.push(end);
    if (chunk.length >= CHUNK) await lookUp();
  }
  await lookUp();
  return { ids: [...owners.keys()].sort(), people: new Set(owners.values()).size, ...counts };
}

const END = z
  .object({ outcome: z.enum([...APPROVALS, ...REVOCATIONS]), grant_id: z.guid(), at: z.coerce.date() })
  .transform(({ outcome, grant_id, at }): GrantEnd => {
    return { grantId: grant_id, at, isApproval: APPROVALS.includes(outcome) };
  });
