import type { Rule } from '../auditor.ts';
import type { EventRow, Evidence } from '../evidence.ts';
import { groupBy, issues } from './tokens.ts';

// The audit trail against the grants of its rows.

const rowsByGrant = ({ events }: Evidence) =>
  groupBy(events, ({ kind, grantId }) =>
    /^(approved|exchanged|replayed|revoked_)/.test(kind) ? (grantId ?? undefined) : undefined,
  );

const AFTER_APPROVAL = '( exchanged( replayed| revoked)?| revoked)?';
const ORDER = new RegExp(`^approved${AFTER_APPROVAL}( approved_again${AFTER_APPROVAL})*$`);

/** The state of a grant after these rows. An approval annuls the earlier token. */
function stateAfter(rows: readonly EventRow[] = []) {
  const last = rows.slice(rows.findLastIndex(({ kind }) => kind.startsWith('approved')));
  return {
    revision: rows.filter(({ kind }) => kind !== 'exchanged').length,
    exchange: last.find(({ kind }) => kind === 'exchanged'),
    isRevoked: last.some(({ kind }) => /^re(played|voked)/.test(kind)),
  };
}

const describe = (revision: number, hasToken: boolean, isRevoked: boolean) =>
  `revision ${revision}, ${hasToken ? 'a' : 'no'} token, ${isRevoked ? 'revoked' : 'not revoked'}`;

export const STORY_RULES: Rule[] = [
  {
    name: 'the rows of the audit trail are in a valid order',
    find: (evidence) =>
      [...rowsByGrant(evidence)]
        .map(([key, rows]) => ({ key, kinds: rows.map(({ kind }) => kind.replace(/_by_.*/, '')).join(' ') }))
        .filter(({ kinds }) => !ORDER.test(kinds))
        .map(({ key, kinds }) => `${key} was ${kinds}`),
  },
  {
    name: 'the audit trail and the grants agree',
    find(evidence) {
      const rows = rowsByGrant(evidence);
      const grants = new Map(evidence.grants.map((grant) => [grant.grantId, grant]));
      return [...new Set([...rows.keys(), ...grants.keys()])].flatMap((key) => {
        const { revision, exchange, isRevoked } = stateAfter(rows.get(key));
        const said = describe(revision, exchange !== undefined, isRevoked);
        const grant = grants.get(key);
        const is = grant && describe(grant.revision, grant.tokenHash !== null, grant.revokedAt !== null);
        return is === said ? [] : [`${key} has ${is ?? 'no row'}; the trail says ${said}`];
      });
    },
  },
  {
    name: 'the token of a grant is the one issued by its last exchange',
    find(evidence) {
      const told = new Map(issues(evidence.entries).map(({ ref, token }) => [ref, token]));
      const rows = rowsByGrant(evidence);
      return evidence.grants.flatMap(({ grantId, tokenHash }) => {
        const token = told.get(stateAfter(rows.get(grantId)).exchange?.reference ?? '');
        return token === undefined || token === tokenHash ? [] : [`${grantId} has another token`];
      });
    },
  },
  {
    name: 'a client instance has at most one grant per user',
    find({ grants }) {
      const byKey = groupBy(grants, ({ userId, clientId, instanceName }) =>
        JSON.stringify([userId, clientId, instanceName]),
      );
      return [...byKey].filter(([, all]) => all.length > 1).map(([key]) => `${key} has two grants`);
    },
  },
];
