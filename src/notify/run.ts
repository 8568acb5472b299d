import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { type AuditEvent, findTrailPart, formatCursor, parseCursor } from '../store/operate/auditTrail.ts';
import {
  findEventsEndpoints,
  findNotifyCursors,
  type NewCursor,
  type NotifyCursor,
  PAUSED_AFTER_DAYS,
  receiverName,
  removeNotifyCursors,
  saveNotifyCursors,
  TRAIL,
  WALLET,
} from '../store/operate/notifyCursors.ts';
import type { Receiver, Webhook } from './deliver.ts';

// The audit trail is the queue. Endpoints that keep up share one cursor; one that fails, or takes long, falls behind: it gets a
// cursor of its own, and reads from there until it has caught up. So one that is down delays no other.

export interface Notifier {
  readonly pool: pg.Pool;
  readonly log: Record<'info' | 'warn' | 'error', (fields: object, text: string) => void>;
  /** @throws {Error} with the reason */
  readonly deliver: (endpoint: Receiver, message: Webhook) => Promise<void>;
  /** The endpoint of users' messages; null for none. */
  readonly wallet: Receiver | null;
  /** What an event says to endpoints, by their names. */
  readonly tell: (event: AuditEvent) => Promise<readonly (readonly [endpoint: string, message: Webhook])[]>;
}

/** Events that one read takes; a crash repeats at most so many. */
const PART = 200;
/** An endpoint that takes longer for its messages of a part falls behind. */
const PATIENCE_MS = 500;
const PAUSE_MS = 500;
/** Between tries, in seconds: after five minutes of failures half an hour, later six hours. */
const DELAYS = [5, 30, 120, 600, 1_800, 3_600, 21_600] as const;

const NOT_DELIVERED = 'a message was not delivered';

/** Endpoints that are behind and being delivered to, with the cursor from which nothing was left when they had caught up. */
type Lanes = Map<string, { readonly caughtUp: string | null } | 'busy'>;

/** Follows the trail and delivers, until the signal. @throws what the database throws */
export async function runNotifier(notifier: Notifier, signal: AbortSignal): Promise<void> {
  const lanes: Lanes = new Map();
  while (!signal.aborted) {
    const more = await tellPart(notifier, lanes, signal);
    if (!more) await wait(PAUSE_MS, undefined, { signal }).catch(() => {});
  }
}

/** Delivers the next events to all endpoints that keep up. @returns true if there may be more now */
async function tellPart(notifier: Notifier, lanes: Lanes, signal: AbortSignal): Promise<boolean> {
  const { pool, log } = notifier;
  const endpoints = await loadReceivers(notifier);
  const cursors = await findNotifyCursors(pool);
  const trail = cursors.find(({ endpoint }) => endpoint === TRAIL);
  const behind = new Map(cursors.flatMap((one) => (one === trail ? [] : [[one.endpoint, one]])));
  await joinAgain(notifier, lanes, behind, endpoints, trail);
  for (const cursor of behind.values()) {
    const endpoint = endpoints.get(cursor.endpoint);
    if (endpoint === undefined || lanes.get(endpoint.name) === 'busy' || !cursor.isDue || cursor.isPaused)
      continue;
    lanes.set(endpoint.name, 'busy');
    void catchUp(notifier, endpoint, cursor, signal)
      .then((caughtUp) => lanes.set(endpoint.name, { caughtUp }))
      .catch((error: Error) => {
        lanes.delete(endpoint.name);
        log.error({ endpoint: endpoint.name, err: error }, 'the state of an endpoint could not be stored');
      });
  }
  const part = await findTrailPart(pool, trail ? parseCursor(trail.cursor) : null, PART);
  if (part === null) {
    log.error(
      {},
      'the cursor is from another database, or from this one before a failover or restore: see docs/operate/notify.md',
    );
    return false;
  }
  const failed = await deliverPart(notifier, part.events, endpoints, behind);
  const late = failed.map(
    ({ endpoint, delivered, error }): NewCursor => ({
      endpoint,
      cursor: trail?.cursor ?? '',
      delivered,
      ...(error !== null && { failures: 1, lastError: error, delay: DELAYS[0] }),
    }),
  );
  await saveNotifyCursors(pool, [{ endpoint: TRAIL, cursor: formatCursor(part.cursor) }, ...late]);
  for (const { endpoint, error } of failed)
    if (error !== null) log.warn({ endpoint, error, failures: 1, retry_seconds: DELAYS[0] }, NOT_DELIVERED);
  return part.events.length >= PART;
}

/** By their names. */
export async function loadReceivers({
  pool,
  wallet,
}: Pick<Notifier, 'pool' | 'wallet'>): Promise<Map<string, Receiver>> {
  const found = (await findEventsEndpoints(pool)).map(({ clientId, uri, isInternal }) => ({
    name: receiverName(clientId),
    url: uri,
    isInternal,
  }));
  return new Map([...(wallet === null ? [] : [wallet]), ...found].map((one) => [one.name, one]));
}

/** Endpoints that had caught up no earlier than the shared cursor share it again. Those without an address are forgotten. */
async function joinAgain(
  { pool, log }: Notifier,
  lanes: Lanes,
  behind: Map<string, NotifyCursor>,
  endpoints: ReadonlyMap<string, Receiver>,
  trail: NotifyCursor | undefined,
): Promise<void> {
  const joining = [...behind.keys()].filter((name) => {
    const lane = lanes.get(name);
    if (lane === 'busy') return false;
    if (!endpoints.has(name)) return true;
    const from = lane?.caughtUp && parseCursor(lane.caughtUp).from;
    return from && trail !== undefined && from >= parseCursor(trail.cursor).from;
  });
  if (joining.length === 0) return;
  await removeNotifyCursors(pool, { endpoints: joining });
  for (const name of joining) {
    behind.delete(name);
    lanes.delete(name);
    log.info({ endpoint: name }, 'an endpoint has caught up, or has no address any more');
  }
}

/** An endpoint that failed, or had not finished in time: without an error. */
interface Behind {
  readonly endpoint: string;
  readonly delivered: readonly string[];
  readonly error: string | null;
}

async function deliverPart(
  notifier: Notifier,
  events: readonly AuditEvent[],
  endpoints: ReadonlyMap<string, Receiver>,
  behind: ReadonlyMap<string, NotifyCursor>,
): Promise<Behind[]> {
  const queues = new Map<Receiver, Webhook[]>();
  for (const event of inOrder(events))
    for (const [name, message] of await notifier.tell(event)) {
      const endpoint = endpoints.get(name);
      if (endpoint !== undefined && !behind.has(name))
        queues.set(endpoint, [...(queues.get(endpoint) ?? []), message]);
    }
  const late = AbortSignal.timeout(PATIENCE_MS);
  const isLate = once(late, 'abort').then(() => null);
  const results = [...queues].map(async ([endpoint, messages]): Promise<Behind[]> => {
    const delivered: string[] = [];
    const all = deliverAll(notifier, endpoint, messages, late, ({ id }) => delivered.push(id)).then(
      () => (delivered.length === messages.length ? [] : null),
      ({ message }: Error) => [{ endpoint: endpoint.name, delivered, error: message }],
    );
    return (await Promise.race([all, isLate])) ?? [{ endpoint: endpoint.name, delivered, error: null }];
  });
  return (await Promise.all(results)).flat();
}

/** Transactions that waited for each other's locks may have got their numbers the other way round. */
const inOrder = (events: readonly AuditEvent[]) =>
  events.toSorted((one, other) => one.at.getTime() - other.at.getTime());

/** Until the signal; a message under way is finished. */
async function deliverAll(
  { deliver }: Notifier,
  endpoint: Receiver,
  messages: readonly Webhook[],
  signal: AbortSignal,
  note: (message: Webhook) => unknown,
): Promise<void> {
  for (const message of messages) {
    if (signal.aborted) return;
    await deliver(endpoint, message);
    await note(message);
  }
}

/** Delivers what an endpoint has missed. @returns the cursor from which nothing was left; null if it failed */
async function catchUp(
  notifier: Notifier,
  endpoint: Receiver,
  { cursor: start, delivered: before, failures, failingSince }: NotifyCursor,
  signal: AbortSignal,
): Promise<string | null> {
  const { pool } = notifier;
  const { name } = endpoint;
  let [cursor, delivered, inARow] = [start, [...before], failures];
  while (!signal.aborted) {
    const part = await findTrailPart(pool, parseCursor(cursor), PART, clientIn(name));
    if (part === null) return null;
    const next = formatCursor(part.cursor);
    const told = await Promise.all(inOrder(part.events).map((event) => notifier.tell(event)));
    const messages = told
      .flat()
      .flatMap(([to, message]) => (to === name && !delivered.includes(message.id) ? [message] : []));
    try {
      await deliverAll(notifier, endpoint, messages, signal, ({ id }) => {
        delivered.push(id);
        inARow = 0;
        return saveNotifyCursors(pool, [{ endpoint: name, cursor, delivered }]);
      });
    } catch (error) {
      await noteFailure(
        notifier,
        { endpoint: name, cursor, delivered, failures: inARow },
        failingSince,
        error as Error,
      );
      return null;
    }
    if (signal.aborted) return null;
    [cursor, delivered] = [next, []];
    await saveNotifyCursors(pool, [{ endpoint: name, cursor }]);
    if (part.events.length === 0) return cursor;
  }
  return null;
}

async function noteFailure(
  { pool, log }: Notifier,
  { failures: before, ...cursor }: NewCursor & Pick<NotifyCursor, 'failures'>,
  failingSince: Date | null,
  { message: lastError }: Error,
): Promise<void> {
  const [failures, delay] = [before + 1, DELAYS[before] ?? DELAYS.at(-1) ?? 0];
  await saveNotifyCursors(pool, [{ ...cursor, failures, lastError, delay }]);
  const isPaused = before > 0 && failingSince !== null && daysSince(failingSince) > PAUSED_AFTER_DAYS;
  const fields = { endpoint: cursor.endpoint, error: lastError, failures };
  if (isPaused) log.error(fields, 'an endpoint is paused until `assent notify resume`');
  else log.warn({ ...fields, retry_seconds: delay }, NOT_DELIVERED);
}

const daysSince = (time: Date) => (Date.now() - time.getTime()) / 86_400_000;

/** The application whose events an endpoint is told; null for all. */
const clientIn = (name: string): string | null =>
  name === WALLET ? null : name.slice(receiverName('').length);
