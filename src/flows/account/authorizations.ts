import { expiresSoon, tokenExpiresAt } from '../../rules/common/lifetimes.ts';
import { MAX_SHOWN_SCOPE_CHARACTERS } from '../../rules/common/limits.ts';
import { grantedRights, hasSpendingRight, type Right } from '../../rules/scope/scope.ts';
import { UUID } from '../../secrets/tokens.ts';
import {
  type AccountClient,
  type AccountGrant,
  findAccountClients,
  findAccountGrants,
} from '../../store/account/accountGrants.ts';
import type { Session } from '../../store/common/sessions.ts';
import { findSpent, type Spent, type SpentByRight } from '../../store/common/spent.ts';
import type { Context } from '../common/context.ts';
import { bindForm, signForm } from '../common/signedForm.ts';

export type { Spent, SpentByRight };

const MAX_AUTHORIZATIONS_SHOWN = 10;
const MAX_APPLICATIONS_SHOWN = 20;

/** A live authorization, as its user sees it. */
export interface LiveAuthorization extends AccountGrant {
  /** Its application is, so the rights can't be used now. */
  readonly isBlocked: boolean;
  readonly expiresAt: Date;
  readonly expiresSoon: boolean;
  readonly rights: readonly Right[];
  /** Undefined where payments are not counted. */
  readonly spent: SpentByRight | undefined;
  /** The token of the form that ends it. */
  readonly disconnectToken: string;
}

/** An application with access to the user's account. */
export interface AuthorizedClient extends AccountClient {
  readonly isBlocked: boolean;
  /** The rights of each authorization that spends; null if too many to read. */
  readonly spending: readonly (readonly Right[])[] | null;
  readonly canSpend: boolean;
  /** Those on this page: none if the application is not open. */
  readonly authorizations: readonly LiveAuthorization[];
  /** The token of the form that ends all of them. */
  readonly disconnectAllToken: string;
}

/**
 * A part of the account page, of which each may be empty. `application`: the id of the only one that is open. `older`: an
 * authorization of it, or a number of applications, after which the part begins. `search`: a part of the names.
 */
export type Part = Record<'application' | 'older' | 'search', string>;

/**
 * The user's applications: those that can spend first, then by their newest authorization. They are open if they have few
 * authorizations in all, and the only one always is. @returns `older`: where the next part begins, null for none
 */
export async function findAccountPage(context: Context, session: Session, part: Part) {
  const { older, search } = part;
  const clientId = part.application || null;
  const wanted = { userId: session.user.userId, clientId };
  const olderThan = UUID.test(older) ? older : null;
  const most = MAX_AUTHORIZATIONS_SHOWN;
  const found = await findAccountGrants(context.db, { ...wanted, grantId: null, olderThan, most });
  let length = 0;
  const fitting = found.slice(0, most).filter(({ scope }, at) => {
    length += scope.length;
    return at === 0 || length <= MAX_SHOWN_SCOPE_CHARACTERS;
  });
  const last = (fitting.length < found.length && fitting.at(-1)?.grantId) || null;
  const isWhole = clientId === null && olderThan === null && last === null;
  // Most users have one at most, which needs no second statement.
  const counted =
    isWhole && fitting.length < 2
      ? fitting.map((grant) => ({ ...grant, live: 1, scopes: [grant.scope] }))
      : await findAccountClients(context.db, wanted);
  const clients = counted
    .map((client) => clientOf(context, session, client))
    .toSorted((one, other) => Number(other.canSpend) - Number(one.canSpend));
  const isOpen = isWhole || clients.length === 1;
  const named = clients.filter(({ clientName }) =>
    isOpen ? fitting.length > 0 : clientName.toLowerCase().includes(search.toLowerCase()),
  );
  const authorizations = await authorizationsOf(context, session, isOpen ? fitting : []);
  const from = Number(older) || 0;
  const next = from + MAX_APPLICATIONS_SHOWN;
  return {
    applications: (isOpen ? named : named.slice(from, next)).map(
      (client): AuthorizedClient => ({
        ...client,
        authorizations: authorizations.filter((one) => one.clientId === client.clientId),
        disconnectAllToken: signForm(context, bindForm('disconnect-all', session, client.clientId)),
      }),
    ),
    all: clients.length,
    spending: clients.filter(({ canSpend }) => canSpend).length,
    isSearchable: !isOpen && clients.length >= MAX_APPLICATIONS_SHOWN,
    older: isOpen ? last : next < named.length ? `${next}` : null,
  };
}

/** The user's authorization of this id; undefined if it is not live. */
export async function findAuthorization(context: Context, session: Session, grantId: string) {
  const wanted = { userId: session.user.userId, clientId: null, grantId, olderThan: null, most: 0 };
  const [found] = await authorizationsOf(context, session, await findAccountGrants(context.db, wanted));
  return found;
}

function clientOf({ currency }: Context, { now }: Session, client: AccountClient) {
  const { clientId, scopes } = client;
  const isBlocked = client.clientStatus === 'blocked';
  const spending =
    scopes?.map((scope) => grantedRights({ clientId, scope }, currency, now)).filter(hasSpendingRight) ??
    null;
  return { ...client, isBlocked, spending, canSpend: !isBlocked && spending?.length !== 0 };
}

async function authorizationsOf(context: Context, session: Session, grants: readonly AccountGrant[]) {
  const granted = grants.map((grant) => ({
    ...grant,
    rights: grantedRights(grant, context.currency, grant.now),
  }));
  const spent = context.countsPayments ? await findSpent(context.db, granted) : [];
  return granted.map((grant, index): LiveAuthorization => {
    const expiresAt = tokenExpiresAt(grant.tokenIssuedAt ?? grant.confirmedAt);
    return {
      isBlocked: grant.clientStatus === 'blocked',
      expiresAt,
      expiresSoon: expiresSoon(expiresAt, grant.now),
      spent: spent[index],
      disconnectToken: signForm(context, bindForm('disconnect', session, grant.grantId)),
      ...grant,
    };
  });
}
