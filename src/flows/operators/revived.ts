import type pg from 'pg';
import { z } from 'zod';
import type { AuditKind } from '../../store/auditEvents.ts';
import { findEndedGrants } from '../../store/liveGrants.ts';

// A restored database has authorizations that ended after the moment that it was restored to. An exported trail knows them.

/** Grants that are looked up at a time. */
const CHUNK = 50_000;

/** Kinds of events after which an authorization from before is no longer good: it was revoked, or given anew. */
const ENDING: readonly string[] = [
  'approved',
  'approved_again',
  'replayed',
  'revoked_by_user',
  'revoked_by_application',
  'revoked_by_operator',
] satisfies AuditKind[];

/**
 * The last end of each grant in an exported trail.
 *
 * @param lines an event each, as `assent audit next` prints them; others are passed over
 */
export async function readEnds(lines: AsyncIterable<string>): Promise<Map<string, Date>> {
  const ends = new Map<string, Date>();
  for await (const line of lines) {
    const event = line.startsWith('{') ? END.safeParse(parseJson(line)).data : undefined;
    if (event === undefined) continue;
    const { grant_id, at } = event;
    if (at > (ends.get(grant_id) ?? 0)) ends.set(grant_id, at);
  }
  return ends;
}

const END = z.object({ outcome: z.enum(ENDING), grant_id: z.guid(), at: z.coerce.date() });

/** @returns undefined for a line that is torn */
function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Grants that are live here although they ended: after a restore, which took their ends back. In the order of their keys. */
export async function findRevived(
  pool: pg.Pool,
  ends: ReadonlyMap<string, Date>,
): Promise<{ ids: string[]; people: number }> {
  const all = [...ends];
  const found: { id: string; userId: string }[] = [];
  for (let from = 0; from < all.length; from += CHUNK)
    found.push(...(await findEndedGrants(pool, all.slice(from, from + CHUNK))));
  return { ids: found.map(({ id }) => id).sort(), people: new Set(found.map(({ userId }) => userId)).size };
}
