import type pg from 'pg';
import { z } from 'zod';
import type { AuditKind } from '../../store/auditEvents.ts';
import { findEndedGrants, type GrantEnd } from '../../store/liveGrants.ts';

// A restored database has authorizations that ended after the moment that it was restored to. An exported trail knows them.

/** Events that are looked up at a time: a trail is larger than memory. */
const CHUNK = 50_000;

const APPROVALS: readonly string[] = ['approved', 'approved_again'] satisfies AuditKind[];
const REVOCATIONS: readonly string[] = [
  'replayed',
  'revoked_by_user',
  'revoked_by_application',
  'revoked_by_operator',
] satisfies AuditKind[];

/** What an exported trail says of a database. */
export interface Revived {
  /** Grants that are live although they ended, in the order of their keys. */
  readonly ids: readonly string[];
  /** How many people gave them. */
  readonly people: number;
  /** How many events of the trail end an authorization. */
  readonly ends: number;
  /** Lines that begin like an event and can't be read. */
  readonly unreadable: number;
}

/**
 * Finds grants that are live here although they ended: after a restore, which took their ends back.
 *
 * @param lines an event each, as `assent audit next` prints them; places between them are passed over
 */
export async function findRevived(pool: pg.Pool, lines: AsyncIterable<string>): Promise<Revived> {
  const owners = new Map<string, string>();
  const counts = { ends: 0, unreadable: 0 };
  let chunk: GrantEnd[] = [];
  const lookUp = async () => {
    for (const { id, userId } of await findEndedGrants(pool, chunk)) owners.set(id, userId);
    chunk = [];
  };
  for await (const line of lines) {
    if (!line.startsWith('{')) continue;
    const event = parseJson(line);
    if (event === undefined) counts.unreadable += 1;
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

/** @returns undefined for a line that is torn */
function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
