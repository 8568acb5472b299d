import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  type AuthorizedClient,
  findAccountPage,
  type LiveAuthorization,
  type Part,
} from '../../../flows/account/authorizations.ts';
import { isEverythingStopped } from '../../../flows/account/disconnect.ts';
import { findWarnings } from '../../../flows/account/warnings.ts';
import type { Context } from '../../../flows/common/context.ts';
import type { Session } from '../../../flows/signIn/session.ts';
import { signInStep } from '../../../flows/signIn/signIn.ts';
import { isolated } from '../../../languages/formats.ts';
import { describeRights } from '../../../languages/rights.ts';
import { logoPath } from '../../../rules/request/client.ts';
import { readCookie } from '../../browser/cookies.ts';
import { sessionOf } from '../../browser/forms.ts';
import { ACCOUNT_PATH } from '../../browser/language.ts';
import { lastOutcome, noteOn } from '../../browser/outcomes.ts';
import { seeOther, withQuery } from '../../browser/redirects.ts';
import { type PageLocale, pageLocaleOf, passwordLinks } from '../../describe/describe.ts';
import { describeMaxSpending, describeSpent, describeTotalSpending } from '../../describe/describeLimits.ts';
import { describeWarnings } from '../../describe/describeWarnings.ts';
import { queryParameters } from '../../request/parameters.ts';
import type { Page } from '../page.ts';
import { showSignIn } from '../signInPage.ts';
import { showPage } from '../views.ts';
import { type AccountPageHead, accountPageHead, type Banner } from './accountPages.ts';
import { STOP_PATH } from './stopPage.ts';

interface Fields extends AccountPageHead, Banner {
  /** Window title: begins with the result of the last form, which screen readers read first. */
  readonly title: string;
  /** Those without connections lead to them. Several others are folded. */
  readonly applications: readonly ReturnType<typeof describeApplication>[];
  /** How many there are, and can spend. */
  readonly all: number;
  readonly spending: number;
  readonly isSearchable: boolean;
  /** What was asked for: forms lead back to it. */
  readonly part: Part;
  readonly older: string | null;
}

export const ACCOUNT_PAGE: Page<Fields> = { name: 'account' };

/** The parameters of a part, in the address and in forms. */
export const ACCOUNT_PAGE_PARAMETERS = ['application', 'older', 'search'];

/** A user's connected applications; without a session the sign-in page. */
export async function showAccount(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { context } = request.server;
  const session = await sessionOf(request);
  if (session === null) return showSignIn(reply, signInStep(context, null, readCookie(request, 'preLogin')));
  const locale = pageLocaleOf(request);
  const { account } = locale.texts;
  const query = queryParameters(request);
  const [application = '', older = '', search = ''] = ACCOUNT_PAGE_PARAMETERS.map((name) =>
    query.find(name)?.trim(),
  );
  const part = { application, older, search };
  const last = lastOutcome(reply, ACCOUNT_PATH);
  const [page, warnings, stopped] = await Promise.all([
    findAccountPage(context, session, part),
    findWarnings(context, session, readCookie(request, 'seen')),
    last?.outcome === 'pressed' ? describeStop(context, session, locale) : null,
  ]);
  // This part is empty now: the first one has the rest.
  if (application + older !== '' && page.applications.length === 0) return seeOther(reply);
  const disconnected =
    last?.outcome === 'disconnected' ? account.disconnected({ what: last.typed.join() }) : null;
  const undone = noteOn(reply, ACCOUNT_PATH, session.user);
  return showPage(reply, ACCOUNT_PAGE, {
    ...accountPageHead(session, reply),
    ...page,
    title: disconnected ?? (undone === null ? account.title : account.titleUndone),
    applications: page.applications.map((client) => describeApplication(client, locale)),
    part,
    older:
      page.older && withQuery(ACCOUNT_PATH, query.only(['application', 'search']), `older=${page.older}`),
    warnings: warnings && describeWarnings(warnings, locale),
    done: disconnected && `${disconnected}. ${account.stillConnected}`,
    ways: [],
    undone,
    ...stopped,
  });
}

/** The account page after stopping everything describes the current state: some of many thousands may be left. */
async function describeStop(context: Context, session: Session, locale: PageLocale) {
  const { stop } = locale.texts;
  if (!(await isEverythingStopped(context, session))) {
    const ways = [{ href: STOP_PATH, text: `${stop.title}…` }];
    return { title: stop.titleUndone, done: null, undone: stop.undone, ways };
  }
  const ways = passwordLinks(locale, session.user.hasPaymentPassword);
  return { title: stop.titleDone, done: stop.done, undone: null, ways };
}

export function describeApplication(client: AuthorizedClient, locale: PageLocale) {
  const { account, formats } = locale.texts;
  const { clientId, clientName, isBlocked, canSpend, authorizations, live } = client;
  const total = account.connections({ count: live });
  const question = account.questionAll({ client: clientName, connections: total });
  const all = { fullName: isolated(clientName), question, formToken: client.disconnectAllToken };
  return {
    clientId,
    name: clientName,
    logo: logoPath({ clientId, logo: client.clientLogo }),
    isBlocked,
    canSpend,
    spending: describeTotalSpending(client, locale.texts),
    total,
    lastUse: account.lastUsed({ day: client.lastUsedOn ? formats.utcDay(client.lastUsedOn) : 'never' }),
    expiresSoon: authorizations.some(({ expiresSoon }) => expiresSoon),
    connections: authorizations.map((one) => describeConnection(one, live > 1, locale)),
    all: live > 1 ? all : null,
  };
}

export function describeConnection(
  authorization: LiveAuthorization,
  isOneOfSeveral: boolean,
  locale: PageLocale,
) {
  const { grantId, clientName, instanceName, confirmedAt, expiresAt, lastUsedOn } = authorization;
  const { account, formats } = locale.texts;
  const isOnly = instanceName === null && !isOneOfSeveral;
  const client = isolated(clientName);
  const unnamed = formats.inSentence(account.unnamed);
  return {
    grantId,
    heading: isOnly ? null : (instanceName ?? account.unnamed),
    fullName: isOnly ? client : `${client}, ${instanceName === null ? unnamed : isolated(instanceName)}`,
    question: isOnly
      ? account.question({ client: clientName })
      : account.questionOf({ client: clientName, connection: instanceName ?? unnamed }),
    spending: describeMaxSpending(authorization, locale.texts),
    allowedOn: formats.day(confirmedAt, locale.timeZone),
    validUntil: formats.day(expiresAt, locale.timeZone),
    expiresSoon: authorization.expiresSoon,
    lastUse: lastUsedOn === null ? account.never : formats.utcDay(lastUsedOn),
    // The source of the money may follow them.
    rights: describeRights(authorization.rights, locale).map((right, index) => ({
      ...right,
      spent: describeSpent(authorization.rights[index], authorization.spent, locale),
    })),
    formToken: authorization.disconnectToken,
  };
}
