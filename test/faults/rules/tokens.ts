import type { Rule } from '../auditor.ts';
import { type Act, decidedBy, type Entry, type Evidence } from '../evidence.ts';

// Answers against later answers, without the database.

/** The last moment at which a request can have been carried out: unknown if it got no answer. */
function endOf(evidence: Evidence, entry: Entry): number {
  if (entry.told === 'unavailable') return decidedBy(evidence, entry);
  return entry.told === 'nothing' ? Number.POSITIVE_INFINITY : entry.toldAt;
}

const ENDING: readonly Act[] = ['disconnect', 'disconnectAll', 'stop', 'revokeByOperator'];

function reaches(entry: Entry, issue: Entry): boolean {
  if (entry.act === 'stop') return entry.userId === issue.userId;
  if (entry.act === 'disconnectAll' || entry.act === 'revokeByOperator') {
    return entry.userId === issue.userId && entry.clientId === issue.clientId;
  }
  return entry.key === issue.key;
}

export function groupBy<T>(all: readonly T[], keyOf: (each: T) => string | undefined): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const each of all) {
    const key = keyOf(each);
    if (key === undefined) continue;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key)?.push(each);
  }
  return groups;
}

export const issues = (entries: readonly Entry[]): Entry[] =>
  entries.filter(({ act, told }) => act === 'exchange' && told === 'done');

/** Each token that was issued, with all requests that can have ended it. */
function livesOf(evidence: Evidence) {
  const { entries, codeLifetimeMs } = evidence;
  const byUser = groupBy(entries, ({ userId }) => userId);
  const approvals = groupBy(entries, ({ act, code }) => (act === 'approve' ? code : undefined));
  const presses = groupBy(entries, ({ act, form }) => (act === 'approve' ? form : undefined));
  const questions = groupBy(entries, ({ active, token }) => (active === undefined ? undefined : token));
  return issues(entries).map((issue) => {
    // A press without an answer may have written the code that a later press of the same form returned.
    const allowed = (approvals.get(issue.code ?? '') ?? []).flatMap(
      ({ form }) => presses.get(form ?? '') ?? [],
    );
    const own = new Set(allowed.map(({ form }) => form));
    const since = Math.min(issue.askedAt, ...allowed.map(({ askedAt }) => askedAt));
    const others = (byUser.get(issue.userId ?? '') ?? []).filter(
      (entry) => entry !== issue && reaches(entry, issue),
    );
    const again = others.filter(({ act, code }) => act === 'exchange' && code === issue.code);
    const ending = others.filter(
      ({ act, form, token }) =>
        ENDING.includes(act) ||
        (act === 'approve' && !own.has(form)) ||
        (act === 'revoke' && token === issue.token),
    );
    return {
      issue,
      /** Requests that may have ended it, whether or not their callers were told so. */
      mayEnd: [...again, ...ending.filter(({ told }) => told !== 'refused')].filter(
        (entry) => entry.told !== 'unreached' && endOf(evidence, entry) >= since,
      ),
      /** Requests that ended it for sure: sent after the token was issued, and confirmed. */
      ended: ending.filter(({ told, askedAt }) => told === 'done' && askedAt >= issue.toldAt),
      /** The same exchange once more, refused while the code was valid. */
      replays: again.filter(
        ({ told, why, body, toldAt }) =>
          `${told} ${why}` === 'refused invalid_grant' &&
          body === issue.body &&
          toldAt < since + codeLifetimeMs,
      ),
      questions: questions.get(issue.token ?? '') ?? [],
    };
  });
}

/** The first end of a block that got one of these answers. */
const unblockOf = (entries: readonly Entry[], block: Entry, told: readonly Entry['told'][]) =>
  entries.find(
    (entry) =>
      entry.act === 'unblock' &&
      entry.userId === block.userId &&
      entry.clientId === block.clientId &&
      entry.askedAt >= block.askedAt &&
      told.includes(entry.told),
  );

const blocks = (entry: Entry, { userId, clientId }: Entry) =>
  entry.act === 'block' && (entry.userId === userId || entry.clientId === clientId);

/** Whether the user or the client of this token may have been blocked while this was asked. */
const isBlocked = ({ entries }: Evidence, issue: Entry, { askedAt, toldAt }: Entry): boolean =>
  entries
    .filter((entry) => blocks(entry, issue) && entry.askedAt <= toldAt)
    .some((block) => askedAt <= (unblockOf(entries, block, ['done'])?.toldAt ?? Number.POSITIVE_INFINITY));

const AT_ONCE = 60_000;

export const TOKEN_RULES: Rule[] = [
  {
    name: 'a code is exchanged at most once',
    find: ({ entries }) =>
      [...groupBy(issues(entries), ({ code }) => code)]
        .filter(([, told]) => new Set(told.map(({ token }) => token)).size > 1)
        .map(([code, told]) => `the code ${code} was exchanged for ${told.length} tokens`),
  },
  {
    name: 'a code is exchanged within its lifetime',
    find({ entries, codeLifetimeMs }) {
      const approvals = groupBy(entries, ({ act, told, code }) =>
        act === 'approve' && told === 'done' ? code : undefined,
      );
      return issues(entries)
        .filter(({ code = '', askedAt }) => {
          const told = approvals.get(code) ?? [];
          return told.length > 0 && told.every(({ toldAt }) => askedAt - toldAt > codeLifetimeMs);
        })
        .map(({ code }) => `the code ${code} was exchanged too late`);
    },
  },
  {
    name: 'an issued token is active until an action ends it',
    find: (evidence) =>
      livesOf(evidence).flatMap(({ issue, mayEnd, questions }) =>
        questions
          .filter(({ active, toldAt }) => !active && !mayEnd.some(({ askedAt }) => askedAt <= toldAt))
          .filter((question) => !isBlocked(evidence, issue, question))
          .map((question) => `the token ${issue.token} of ${issue.key} was refused at ${question.askedAt}`),
      ),
  },
  {
    name: 'a token that was annulled or revoked stays inactive',
    find: (evidence) =>
      livesOf(evidence).flatMap(({ issue, ended, questions }) =>
        ended
          .filter(({ toldAt }) => questions.some(({ active, askedAt }) => active && toldAt <= askedAt))
          .slice(0, 1)
          .map(
            ({ act, ref }) => `the token ${issue.token} of ${issue.key} was accepted after ${act} (${ref})`,
          ),
      ),
  },
  {
    name: 'a token is revoked once its code is replayed',
    find: (evidence) =>
      livesOf(evidence).flatMap(({ issue, replays, questions }) =>
        replays
          .filter(({ toldAt }) => questions.some(({ active, askedAt }) => active && askedAt >= toldAt))
          // While the user was blocked it may have been refused for that, before the code was used.
          .filter((each) => each.askedAt >= issue.toldAt || !isBlocked(evidence, issue, each))
          .slice(0, 1)
          .map(({ ref }) => `the token ${issue.token} of ${issue.key} was accepted after a replay (${ref})`),
      ),
  },
  {
    name: 'a block takes effect on every replica at once',
    find: ({ entries }) =>
      entries
        .filter(({ act, told }) => act === 'block' && told === 'done')
        .flatMap((block) => {
          const unblock = unblockOf(entries, block, ['done', 'nothing']);
          const until = unblock?.askedAt ?? block.toldAt + AT_ONCE;
          return entries
            .filter((entry) => entry.active && blocks(block, entry))
            .filter(({ askedAt, toldAt }) => askedAt >= block.toldAt && toldAt <= until)
            .map(({ token }) => `the token ${token} was accepted after ${block.ref}, a block`);
        }),
  },
  {
    name: 'a client instance has at most one active token per user',
    find: ({ entries, quietSince }) =>
      [
        ...groupBy(entries, ({ act, active, askedAt, key }) =>
          act === 'introspect' && active && askedAt >= quietSince ? key : undefined,
        ),
      ]
        .filter(([, live]) => new Set(live.map(({ token }) => token)).size > 1)
        .map(([key, live]) => `${key} has ${live.length} live tokens`),
  },
];
