import type { Rule } from '../auditor.ts';
import { groupBy, issues } from './tokens.ts';

// The audit trail against the grants of its rows.

/** Those of `assent doctor --invariants`: of the order of rows, of what they make of a grant, and of its key. */
export const OF_STORIES =
  /^(trail_of_(grants|tokens|revocations|exchanges)|revived|revisions|grant_(keys|doubles))$/;

export const STORY_RULES: Rule[] = [
  { name: 'the audit trail and the grants agree', find: ({ broken }) => [...broken] },
  {
    name: 'the token of a grant is the one issued by its last exchange',
    find({ entries, events, grants }) {
      const told = new Map(issues(entries).map(({ ref, token }) => [ref, token]));
      const decided = groupBy(events, ({ kind, grantId }) =>
        /^(approved|exchanged)/.test(kind) ? (grantId ?? undefined) : undefined,
      );
      return grants.flatMap(({ grantId, tokenHash }) => {
        const last = decided.get(grantId)?.at(-1);
        const token = last?.kind === 'exchanged' ? told.get(last.reference) : undefined;
        return token === undefined || token === tokenHash ? [] : [`${grantId} has another token`];
      });
    },
  },
];
