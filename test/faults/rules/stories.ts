import type { Rule } from '../auditor.ts';
import type { EventRow, Evidence, GrantRow } from '../evidence.ts';
import { groupBy, issues } from './tokens.ts';

// The audit trail against the grants of its rows.

interface Story {
  readonly revision: number;
  readonly hasToken: boolean;
  readonly isRevoked: boolean;
  readonly exchange: EventRow | null;
  readonly wrong: readonly string[];
}

const BEGINNING: Story = { revision: 0, hasToken: false, isRevoked: true, exchange: null, wrong: [] };

function tell(story: Story, event: EventRow): Story {
  const unless = (holds: boolean) =>
    holds ? story.wrong : [...story.wrong, `${event.kind} (${event.reference})`];
  const { revision, hasToken, isRevoked } = story;
  if (event.kind === 'approved' || event.kind === 'approved_again') {
    const wrong = unless((event.kind === 'approved') === (revision === 0));
    return { ...story, revision: revision + 1, hasToken: false, isRevoked: false, exchange: null, wrong };
  }
  if (event.kind === 'exchanged') {
    return { ...story, hasToken: true, exchange: event, wrong: unless(!hasToken && !isRevoked) };
  }
  if (event.kind === 'replayed' || event.kind.startsWith('revoked_')) {
    const wrong = unless(!isRevoked && (event.kind !== 'replayed' || hasToken));
    return { ...story, revision: revision + 1, isRevoked: true, wrong };
  }
  return story;
}

function storiesOf({ events }: Evidence): Map<string, Story> {
  const stories = new Map<string, Story>();
  for (const event of events) {
    if (event.grantId === null || event.kind === 'rejected') continue;
    stories.set(event.grantId, tell(stories.get(event.grantId) ?? BEGINNING, event));
  }
  return stories;
}

const stateOf = (revision: number, hasToken: boolean, isRevoked: boolean) =>
  `revision ${revision}, ${hasToken ? 'a' : 'no'} token, ${isRevoked ? 'revoked' : 'not revoked'}`;

function compare(grant: GrantRow | undefined, story = BEGINNING): string[] {
  if (grant === undefined) return ['has rows in the trail and none of its own'];
  const is = stateOf(grant.revision, grant.tokenHash !== null, grant.revokedAt !== null);
  const said = stateOf(story.revision, story.hasToken, story.isRevoked);
  return is === said ? [] : [`has ${is}; the trail says ${said}`];
}

export const STORY_RULES: Rule[] = [
  {
    name: 'the rows of the trail follow each other',
    find: (evidence) =>
      [...storiesOf(evidence)].flatMap(([key, { wrong }]) =>
        wrong.map((row) => `${key}: ${row} can't follow`),
      ),
  },
  {
    name: 'the trail and the grants say the same',
    find(evidence) {
      const stories = storiesOf(evidence);
      const grants = new Map(evidence.grants.map((grant) => [grant.grantId, grant]));
      return [...new Set([...stories.keys(), ...grants.keys()])].flatMap((key) =>
        compare(grants.get(key), stories.get(key)).map((difference) => `${key} ${difference}`),
      );
    },
  },
  {
    name: 'the token of a grant is the one that its last exchange was told',
    find(evidence) {
      const told = new Map(issues(evidence.entries).map(({ ref, token }) => [ref, token]));
      const stories = storiesOf(evidence);
      return evidence.grants.flatMap(({ grantId, tokenHash }) => {
        const token = told.get(stories.get(grantId)?.exchange?.reference ?? '');
        return token === undefined || token === tokenHash ? [] : [`${grantId} has another token`];
      });
    },
  },
  {
    name: 'a user, a client and an instance have one grant',
    find({ grants }) {
      const byKey = groupBy(grants, ({ userId, clientId, instanceName }) =>
        JSON.stringify([userId, clientId, instanceName]),
      );
      return [...byKey].filter(([, all]) => all.length > 1).map(([key]) => `${key} has two grants`);
    },
  },
];
