import type { Rule } from '../auditor.ts';
import { type Act, decidedBy, type Entry, type EventRow, type Evidence, SLACK_MS } from '../evidence.ts';
import { groupBy } from './tokens.ts';

// The audit trail against what callers were told.

/** The acts that leave each kind of row. Drivers don't ask for others, such as a user's registration. */
const CAUSES: Readonly<Record<string, readonly Act[]>> = {
  approved: ['approve'],
  approved_again: ['approve'],
  rejected: ['reject'],
  exchanged: ['exchange'],
  replayed: ['exchange'],
  revoked_by_application: ['revoke'],
  signed_in: ['signIn'],
  revoked_by_user: ['disconnect', 'disconnectAll', 'stop'],
  revoked_by_operator: ['revokeByOperator'],
  client_blocked: ['block'],
  client_unblocked: ['unblock'],
  user_blocked: ['block'],
  user_unblocked: ['unblock'],
};
const causesOf = ({ kind }: EventRow): readonly Act[] => CAUSES[kind] ?? [];
const OF_MANY: readonly Act[] = ['stop', 'disconnectAll'];

/**
 * Finds the entry that asked for each row: by the reference of its answer, else the last earlier one without an answer, each
 * for one row; null if there is none. Rows that drivers don't cause are left out.
 */
export function causes({ entries, events }: Evidence) {
  // Of 100,000 references of 40 bits two may be the same.
  const byRef = groupBy(entries, ({ ref }) => ref ?? undefined);
  const unanswered = new Set(
    entries
      .filter(({ told, ref }) => told === 'nothing' && ref === null)
      .toSorted((one, other) => one.askedAt - other.askedAt),
  );
  const isAskedFor = (event: EventRow, entry: Entry) =>
    causesOf(event).includes(entry.act) &&
    entry.askedAt <= event.at + SLACK_MS &&
    (event.kind === 'signed_in' || OF_MANY.includes(entry.act)
      ? entry.userId === event.userId
      : entry.key === event.grantId);
  return events
    .filter((event) => causesOf(event).length > 0)
    .map((event) => {
      const known = byRef.get(event.reference ?? event.operator ?? '');
      if (known !== undefined)
        return { event, entry: known.find(({ act }) => causesOf(event).includes(act)) ?? null };
      const entry = [...unanswered].findLast((each) => isAskedFor(event, each)) ?? null;
      if (entry !== null && !OF_MANY.includes(entry.act)) unanswered.delete(entry);
      return { event, entry };
    });
}

export function doneAllTheSame(evidence: Evidence, told: Entry['told']): Entry[] {
  const done = causes(evidence).flatMap(({ event, entry }) =>
    entry?.told === told && !(told === 'refused' && event.kind === 'replayed') ? [entry] : [],
  );
  return [...new Set(done)];
}

/** Whether a replay revoked the token before the exchange, whose first answer from PostgreSQL was lost, was answered. */
function wasReplayed({ events }: Evidence, { act, key, askedAt, toldAt }: Entry): boolean {
  return (
    act === 'exchange' &&
    events.some(
      ({ kind, grantId, at }) =>
        kind === 'replayed' && grantId === key && at > askedAt - SLACK_MS && at < toldAt + SLACK_MS,
    )
  );
}

/** Each confirmed entry has one row of its own; posts of one form share one. */
function expectRows(evidence: Evidence): string[] {
  const decisionOf = ({ form, ref }: Entry) => form ?? ref ?? '';
  const rows = groupBy(causes(evidence), ({ entry }) => entry?.form ?? entry?.ref ?? undefined);
  const single: readonly Act[] = ['approve', 'reject', 'exchange', 'signIn', 'block', 'unblock'];
  return evidence.entries
    .filter(({ told, act, mayBeIdle }) => told === 'done' && single.includes(act) && !mayBeIdle)
    .map((entry) => ({ ...entry, rows: rows.get(decisionOf(entry))?.length ?? 0 }))
    .filter((entry) => entry.rows !== 1)
    .map(({ act, ref, rows }) => `${act} (${ref}) has ${rows} rows in the trail`);
}

export const TRAIL_RULES: Rule[] = [
  {
    name: 'every row of the audit trail comes from a request',
    find: (evidence) =>
      causes(evidence)
        .filter(({ entry }) => entry === null)
        .map(
          ({ event: { kind, grantId, userId, reference } }) =>
            `no request for ${kind} of ${grantId ?? userId} (${reference})`,
        ),
  },
  { name: 'each confirmed action has its row in the trail', find: expectRows },
  {
    name: 'a refused request is not carried out',
    find: (evidence) =>
      doneAllTheSame(evidence, 'refused')
        .filter((entry) => !(evidence.losing.has(entry.during) && wasReplayed(evidence, entry)))
        .map(({ act, ref, why }) => `${act} (${ref}) was refused (${why}) and done`),
  },
  {
    name: 'a request answered 503 is not carried out, or only in time if PostgreSQL’s answer was lost',
    find: (evidence) =>
      causes(evidence)
        .filter(({ event, entry }) => entry?.told === 'unavailable' && event.at > decidedBy(evidence, entry))
        .map(({ event, entry }) => `${entry?.act} (${entry?.ref}) was answered 503 and done at ${event.at}`),
  },
];
