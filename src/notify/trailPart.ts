import type pg from 'pg';
import {
  type AuditEvent,
  findTrailPart,
  formatCursor,
  parseCursor,
  type TrailCursor,
} from '../store/operate/auditTrail.ts';
import type { Webhook } from './deliver.ts';

/** Events that one read takes. */
export const PART = 500;

/** What an event says to receivers, by their names. */
export type Tell = (event: AuditEvent) => Promise<readonly (readonly [receiver: string, webhook: Webhook])[]>;

/** The events after a cursor. */
export interface TrailPart {
  readonly next: string;
  readonly count: number;
  /** By receiver, in order. */
  readonly webhooks: ReadonlyMap<string, readonly Webhook[]>;
}

export async function readTrail(pool: pg.Pool, cursor: TrailCursor | null) {
  const part = await findTrailPart(pool, cursor, PART);
  if (part === null) throw new Error('the database was replaced by another one');
  return part;
}

/** @param end a cursor that the part doesn't pass */
export async function readPart(
  pool: pg.Pool,
  cursor: string,
  tells: readonly Tell[],
  end: string | null = null,
): Promise<TrailPart> {
  const part = await readTrail(pool, parseCursor(cursor));
  const limit = end === null ? part.cursor.from : parseCursor(end).from;
  // Transactions that waited for each other's locks may have got their numbers the other way round.
  const events = part.events
    .filter(({ transaction }) => BigInt(transaction) < limit)
    .toSorted((one, other) => one.at.getTime() - other.at.getTime());
  const webhooks = new Map<string, Webhook[]>();
  for (const event of events)
    for (const tell of tells)
      for (const [receiver, webhook] of await tell(event)) {
        const queue = webhooks.get(receiver);
        if (queue === undefined) webhooks.set(receiver, [webhook]);
        else queue.push(webhook);
      }
  const next = end !== null && part.cursor.from > limit ? end : formatCursor(part.cursor);
  return { next, count: events.length, webhooks };
}
