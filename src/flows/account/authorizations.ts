import { expiresSoon, tokenExpiresAt } from '../../rules/common/lifetimes.ts';
import { MAX_SHOWN_SCOPE_CHARACTERS } from '../../rules/common/limits.ts';
import { grantedRights, spends } from '../../rules/scope/scope.ts';
import { isUuid } from '../../secrets/tokens.ts';
import {
  type AccountGrant,
  countAccountGrants,
  findAccountGrants,
} from '../../store/account/accountGrants.ts';
import type { Session } from '../../store/common/sessions.ts';
import type { Context } from '../common/context.ts';
import { formOf, signForm } from '../common/signedForm.ts';

const MAX_AUTHORIZATIONS_SHOWN = 10;

/** A live authorization: its rights, confirmation, expiry, day of last use (UTC), and the token of its form. */
export type LiveAuthorization = ReturnType<typeof authorizationOf>;

/** An application with access to the user's account, and its authorizations on this page. */
export type AuthorizedClient = Awaited<ReturnType<typeof groupByClient>>[number];

/**
 * One page of the user's live authorizations by application, newest first, at a cost independent of their number.
 * @param from the `older` of the page before, null for the first @returns `older`: where the next page begins, null for none
 */
export async function findAuthorizationsPage(context: Context, session: Session, from: string | null) {
  const wanted = { userId: session.user.userId, olderThan: from, most: MAX_AUTHORIZATIONS_SHOWN };
  const { found, nextFrom } = await findAccountGrants(context.db, wanted);
  let length = 0;
  const fitting = found.filter(({ scope }, at) => {
    length += scope.length;
    return at === 0 || length <= MAX_SHOWN_SCOPE_CHARACTERS;
  });
  const older = fitting.length < found.length ? (fitting.at(-1)?.grantId ?? null) : nextFrom;
  const authorizations = fitting.map((grant) => authorizationOf(context, session, grant));
  const clients = await groupByClient(context, session, authorizations, (from ?? older) !== null);
  // Only a page is sorted: spending is part of the scope and no column, so PostgreSQL can't page by it.
  const applications = clients.sort((one, other) => Number(other.canSpend) - Number(one.canSpend));
  return { applications, older };
}

function authorizationOf(context: Context, session: Session, grant: AccountGrant) {
  const expiresAt = tokenExpiresAt(grant.tokenIssuedAt ?? grant.confirmedAt);
  return {
    isBlocked: grant.clientStatus === 'blocked',
    expiresAt,
    expiresSoon: expiresSoon(expiresAt, grant.now),
    rights: grantedRights(grant, context.currency),
    disconnectToken: signForm(context, formOf('disconnect', session, grant.grantId)),
    ...grant,
  };
}

async function groupByClient(
  context: Context,
  session: Session,
  shown: readonly LiveAuthorization[],
  thereAreOtherPages: boolean,
) {
  const clients = new Map(shown.map((authorization) => [authorization.clientId, authorization]));
  const asked = { userId: session.user.userId, clientIds: [...clients.keys()] };
  const counts = thereAreOtherPages ? await countAccountGrants(context.db, asked) : [];
  return [...clients.values()].map(({ clientId, clientName, clientLogo, isBlocked }) => {
    const authorizations = shown.filter((one) => one.clientId === clientId);
    const count = counts.find((counted) => counted.clientId === clientId);
    const scopes = count === undefined ? authorizations.map(({ scope }) => scope) : count.scopes;
    const spending =
      count?.orMore || scopes === null
        ? null
        : scopes.map((scope) => grantedRights({ clientId, scope }, context.currency)).filter(spends);
    return {
      clientId,
      clientName,
      clientLogo,
      isBlocked,
      canSpend: !isBlocked && (spending === null || spending.length > 0),
      /** The rights of all its connections that spend, on all pages; null if too many to read. */
      spending,
      authorizations,
      /** On all pages; with `orMore` only the newest were counted. */
      live: Math.max(authorizations.length, count?.live ?? 0),
      orMore: count?.orMore ?? false,
      disconnectAllToken: signForm(context, formOf('disconnect-all', session, clientId)),
    };
  });
}

/** The authorization named by a link; null for other text. */
export function cursorOf(older = ''): string | null {
  return isUuid(older) ? older : null;
}
