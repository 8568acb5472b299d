import type { Rule } from '../auditor.ts';
import { decidedBy, type Evidence } from '../evidence.ts';
import type { Entry } from '../journal.ts';

// What callers were told, against what they were told later: the database is not asked.

/** Until when what was asked could be done: nobody knows that of what got no answer. */
function endOf(evidence: Evidence, entry: Entry): number {
  if (entry.told === 'unavailable') return decidedBy(evidence, entry);
  return entry.told === 'nothing' ? Number.POSITIVE_INFINITY : entry.toldAt;
}

function reaches(entry: Entry, issue: Entry): boolean {
  if (entry.act === 'stop') return entry.userId === issue.userId;
  if (entry.act === 'disconnectAll' || entry.act === 'revokeByOperator') {
    return entry.userId === issue.userId && entry.clientId === issue.clientId;
  }
  return entry.key === issue.key;
}

function ends({ act, code, token }: Entry, issue: Entry): boolean {
  if (act === 'approve') return code !== issue.code;
  if (act === 'revoke') return token === issue.token;
  return act === 'disconnect' || act === 'disconnectAll' || act === 'stop' || act === 'revokeByOperator';
}

/** Whether an act may end this token: also the second exchange of its code, whatever that was told. */
function mayEnd(entry: Entry, issue: Entry): boolean {
  if (entry === issue || entry.told === 'unreached') return false;
  if (entry.act === 'exchange') return entry.code === issue.code;
  return ends(entry, issue) && entry.told !== 'refused';
}

const isReplay = ({ act, code, body, told, why }: Entry, issue: Entry): boolean =>
  [act, told, why].join() === 'exchange,refused,invalid_grant' && code === issue.code && body === issue.body;

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

/** Each token that a caller was given, and all that can have ended it. */
function livesOf(evidence: Evidence) {
  const { entries, codeLifetimeMs } = evidence;
  const byUser = groupBy(entries, ({ userId }) => userId);
  const approvals = groupBy(entries, ({ act, code }) => (act === 'approve' ? code : undefined));
  const presses = groupBy(entries, ({ act, form }) => (act === 'approve' ? form : undefined));
  const questions = groupBy(entries, ({ act, token, told }) =>
    act === 'introspect' && told === 'done' ? token : undefined,
  );
  return issues(entries).map((issue) => {
    // A press without an answer may be the one that wrote the code which a later press of the same form was told.
    const allowed = (approvals.get(issue.code ?? '') ?? []).flatMap(
      ({ form }) => presses.get(form ?? '') ?? [],
    );
    // A confirmation is told no code: the way back is, for the same page.
    const own = new Set(allowed.map(({ form }) => form));
    const endsIt = (entry: Entry) => ends(entry, issue) && !(entry.act === 'approve' && own.has(entry.form));
    const since = Math.min(issue.askedAt, ...allowed.map(({ askedAt }) => askedAt));
    const others = (byUser.get(issue.userId ?? '') ?? []).filter((entry) => reaches(entry, issue));
    return {
      issue,
      /** What may have ended it, whether or not the caller was told so. */
      mayEnd: others.filter(
        (entry) =>
          mayEnd(entry, issue) &&
          (entry.act === 'exchange' || endsIt(entry)) &&
          endOf(evidence, entry) >= since,
      ),
      /** What ended it for sure: asked after the token was told, and told to be done. */
      ended: others.filter(
        (entry) => endsIt(entry) && entry.told === 'done' && entry.askedAt >= issue.toldAt,
      ),
      /** Its very exchange once more, while the code was good, evaluated and refused. */
      replays: others.filter((entry) => isReplay(entry, issue) && entry.toldAt < since + codeLifetimeMs),
      questions: questions.get(issue.token ?? '') ?? [],
    };
  });
}

/** What ended a block first, of what was told so. */
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
    name: 'a token that was told is live until something ends it',
    find: (evidence) =>
      livesOf(evidence).flatMap(({ issue, mayEnd, questions }) =>
        questions
          .filter(({ active, toldAt }) => !active && !mayEnd.some(({ askedAt }) => askedAt <= toldAt))
          .filter((question) => !isBlocked(evidence, issue, question))
          .map((question) => `the token ${issue.token} of ${issue.key} was refused at ${question.askedAt}`),
      ),
  },
  {
    name: 'a token that was annulled or revoked stays dead',
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
    name: 'a token is dead once its code came again in time',
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
    name: 'a block holds on every replica at once',
    find: ({ entries }) =>
      entries
        .filter(({ act, told }) => act === 'block' && told === 'done')
        .flatMap((block) => {
          const unblock = unblockOf(entries, block, ['done', 'nothing']);
          const until = unblock?.askedAt ?? block.toldAt + AT_ONCE;
          return entries
            .filter((entry) => entry.act === 'introspect' && entry.active && blocks(block, entry))
            .filter(({ askedAt, toldAt }) => askedAt >= block.toldAt && toldAt <= until)
            .map(({ token }) => `the token ${token} was accepted after ${block.ref}, a block`);
        }),
  },
  {
    name: 'of each user, client and instance one token is live',
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
