import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { memoize } from '../rules/common/memoize.ts';
import { cursorAge, formatCursor, ownCursor, parseCursor } from '../store/operate/auditTrail.ts';
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
import { PART, readPart, readTrail, type Tell, type TrailPart } from './trailPart.ts';

// The audit trail is the queue. Receivers that keep up share one cursor. One that fails, or takes long, falls behind: it gets a
// cursor of its own, from which it is told what it has missed, and delays no other. Delivery is at least once: what a killed process
// had delivered of a part is delivered again, with the same ids.

export interface Notifier {
  readonly pool: pg.Pool;
  readonly log: Record<'info' | 'warn' | 'error', (fields: object, text: string) => void>;
  /** @throws {Error} with the reason */
  readonly deliver: (receiver: Receiver, webhook: Webhook) => Promise<void>;
  /** The receiver of users' messages; null for none. */
  readonly wallet: Receiver | null;
  /** What an event says to the wallet. */
  readonly tellWallet: Tell;
  readonly tellApplications: Tell;
}

/** A receiver that takes longer for a webhook, or for all of a part, falls behind. */
const PATIENCE_MS = 500;
const MAX_PART_MS = 2_000;
const PAUSE_MS = 500;
/** Between tries, in seconds; later always the last. */
const DELAYS = [5, 30, 120, 600, 1_800, 3_600, 21_600] as const;
const DAY_MS = 86_400_000;

/** Without events the shared cursor moves this often: a move is a write, but says that the process runs. */
const IDLE_SECONDS = 60;
/** An event that is older, and unread, is of an open transaction. */
const HELD_SECONDS = 150;

/** Follows the trail and delivers, until the signal. @throws what the database throws */
export async function runNotifier(notifier: Notifier, signal: AbortSignal): Promise<void> {
  const busy = new Set<string>();
  await adoptCursors(notifier);
  while (!signal.aborted) {
    const hasMore = await tellPart(notifier, busy, signal);
    if (!hasMore) await wait(PAUSE_MS, undefined, { signal }).catch(() => {});
  }
}

/** After a restore, cursors begin again at their times. */
async function adoptCursors({ pool, log }: Notifier): Promise<void> {
  for (const { endpoint, cursor } of await findNotifyCursors(pool)) {
    const own = await ownCursor(pool, cursor);
    if (own === cursor) continue;
    log.warn({ endpoint }, 'the database was restored: recent webhooks are posted again, with the same ids');
    await saveNotifyCursors(pool, [{ endpoint, cursor: own }]);
  }
}

/** The first cursor. The second one knows which transactions ran before it. */
async function startFromNow(pool: pg.Pool): Promise<string> {
  const before = await readTrail(pool, null);
  const { cursor } = await readTrail(pool, before.cursor);
  await saveNotifyCursors(pool, [{ endpoint: TRAIL, cursor: formatCursor(cursor) }]);
  return formatCursor(cursor);
}

/** By their names. */
export async function loadReceivers({ pool, wallet }: Pick<Notifier, 'pool' | 'wallet'>) {
  const found = (await findEventsEndpoints(pool)).map(({ clientId, uri, isInternal }): Receiver => {
    return { name: receiverName(clientId), url: uri, isInternal };
  });
  return new Map([...(wallet === null ? [] : [wallet]), ...found].map((one) => [one.name, one]));
}

/** Tells all receivers the next events, each from its cursor. @param busy those still being told @returns true if there may be more */
async function tellPart(notifier: Notifier, busy: Set<string>, signal: AbortSignal): Promise<boolean> {
  const { pool, log } = notifier;
  const receivers = await loadReceivers(notifier);
  const cursors = await findNotifyCursors(pool);
  const shared = cursors.find(({ endpoint }) => endpoint === TRAIL)?.cursor ?? (await startFromNow(pool));
  const behind = await findBehind(notifier, cursors, receivers, shared, busy);
  const part = await readPart(pool, shared, [notifier.tellWallet, notifier.tellApplications]);
  const keepingUp = [...receivers.values()].filter(
    ({ name }) => !behind.has(name) && part.webhooks.has(name),
  );
  const told = keepingUp.map((receiver) => {
    const before = { cursor: shared, delivered: [], failures: 0, failingSince: null };
    return { endpoint: receiver.name, ...tellReceiver(notifier, receiver, part, before) };
  });
  const results = await Promise.all(
    told.map(({ done, delivered }) => Promise.race([done, lateness(delivered)])),
  );
  const fallBehind = told.flatMap(({ endpoint, delivered }, at): NewCursor[] => {
    const result = results[at] ?? { endpoint, cursor: shared, delivered };
    return result.cursor === shared ? [result] : [];
  });
  const end = await moveShared(notifier, shared, part, fallBehind);

  const finish = (endpoint: string, done: Promise<NewCursor>) => {
    busy.add(endpoint);
    done
      .then((cursor) => saveNotifyCursors(pool, [cursor]))
      .catch((error: Error) => signal.aborted || log.error({ endpoint, err: error }, 'the database failed'))
      .finally(() => busy.delete(endpoint));
  };
  for (const [at, { endpoint, done }] of told.entries()) if (results[at] === null) finish(endpoint, done);
  // No further than those that keep up have come: whoever shares their cursor would be told the rest again.
  const readOnce = memoize((cursor: string) => readPart(pool, cursor, [notifier.tellApplications], end));
  for (const cursor of behind.values()) {
    const receiver = receivers.get(cursor.endpoint);
    if (receiver === undefined || busy.has(receiver.name) || !cursor.isDue || cursor.isPaused) continue;
    const missed =
      receiver.name === WALLET
        ? readPart(pool, cursor.cursor, [notifier.tellWallet], end)
        : readOnce(cursor.cursor);
    finish(
      receiver.name,
      missed.then((one) => tellReceiver(notifier, receiver, one, cursor).done),
    );
  }
  return part.count >= PART;
}

/** Moves the shared cursor, together with those of receivers that fall behind. @returns where it is */
async function moveShared(
  { pool, log }: Notifier,
  shared: string,
  { next, count }: TrailPart,
  fallBehind: readonly NewCursor[],
): Promise<string> {
  const [before, after] = [cursorAge(shared), cursorAge(next)];
  if (count === 0 && before.idle <= IDLE_SECONDS && before.lag - after.lag <= IDLE_SECONDS) return shared;
  if (before.since === after.since && after.lag > HELD_SECONDS && count < PART)
    log.warn({ seconds: Math.round(after.lag) }, 'an open transaction holds back webhooks');
  await saveNotifyCursors(pool, [{ endpoint: TRAIL, cursor: next }, ...fallBehind]);
  return next;
}

/** The receivers with a cursor of their own. Those that have come to the shared one share it again; those without an address go. */
async function findBehind(
  { pool, log }: Notifier,
  cursors: readonly NotifyCursor[],
  receivers: ReadonlyMap<string, Receiver>,
  shared: string,
  busy: ReadonlySet<string>,
): Promise<ReadonlyMap<string, NotifyCursor>> {
  const behind = new Map(
    cursors.filter(({ endpoint }) => endpoint !== TRAIL).map((one) => [one.endpoint, one]),
  );
  const isThere = ({ endpoint, cursor, failures }: NotifyCursor) =>
    failures === 0 && !busy.has(endpoint) && parseCursor(cursor).from >= parseCursor(shared).from;
  const gone = [...behind.values()].filter((one) => !receivers.has(one.endpoint) || isThere(one));
  for (const { endpoint } of gone) {
    behind.delete(endpoint);
    log.info({ endpoint }, 'it has caught up, or has no address any more');
  }
  if (gone.length > 0) await removeNotifyCursors(pool, { endpoints: gone.map(({ endpoint }) => endpoint) });
  return behind;
}

/** Resolves when no webhook was delivered for a while, or a part takes too long. @param delivered grows meanwhile */
async function lateness(delivered: readonly string[]): Promise<null> {
  const end = performance.now() + MAX_PART_MS;
  for (let before = -1; delivered.length > before && performance.now() < end; ) {
    before = delivered.length;
    await wait(PATIENCE_MS);
  }
  return null;
}

type Before = Pick<NotifyCursor, 'cursor' | 'delivered' | 'failures' | 'failingSince'>;

/** Delivers a part's webhooks to a receiver, one after the other. @returns what is `delivered` so far, and its cursor at the end */
function tellReceiver(notifier: Notifier, receiver: Receiver, part: TrailPart, before: Before) {
  const delivered = [...before.delivered];
  return { delivered, done: deliverAll(notifier, receiver, part, before, delivered) };
}

async function deliverAll(
  { deliver, log }: Notifier,
  receiver: Receiver,
  { next, webhooks }: TrailPart,
  before: Before,
  delivered: string[],
): Promise<NewCursor> {
  const { name: endpoint } = receiver;
  try {
    for (const webhook of webhooks.get(endpoint) ?? []) {
      if (delivered.includes(webhook.id)) continue;
      await deliver(receiver, webhook);
      delivered.push(webhook.id);
    }
    return { endpoint, cursor: next };
  } catch (error) {
    // A success in between begins anew.
    const earlier = delivered.length > before.delivered.length ? 0 : before.failures;
    const delay = DELAYS[earlier] ?? DELAYS.at(-1) ?? 0;
    const { message: lastError } = error as Error;
    const fields = { endpoint, error: lastError, failures: earlier + 1 };
    const since = earlier === 0 ? null : before.failingSince;
    // The next try would come too late.
    if (since !== null && Date.now() + delay * 1000 - since.getTime() > PAUSED_AFTER_DAYS * DAY_MS)
      log.error(fields, 'an endpoint is paused until `assent notify resume`');
    else log.warn({ ...fields, retry_seconds: delay }, 'a webhook was not delivered');
    return { endpoint, cursor: before.cursor, delivered, failures: earlier + 1, lastError, delay };
  }
}
