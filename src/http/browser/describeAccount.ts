import type { AuthorizationsPage, AuthorizedClient, LiveAuthorization } from '../../flows/authorizations.ts';
import type { HistoryEvent } from '../../flows/history.ts';
import type { UserSession } from '../../flows/userSessions.ts';
import { isMostOftenOwn, isWarningKind } from '../../flows/warnings.ts';
import { inSentence, say } from '../../languages/formats.ts';
import { type Language, TEXTS, type Texts } from '../../languages/languages.ts';
import { logoPath } from '../../rules/client.ts';
import { beginningOf } from '../../rules/network.ts';
import type { ConnectedApplication, Connection, DescribedEvent, DescribedSession } from './accountPages.ts';
import { describeRights, type Words } from './describe.ts';
import { describeSpending, describeTotalSpending } from './describeSpending.ts';

/** So many applications are shown with all that they may do; of more the user opens one. */
const MAX_OPEN = 1;

/** The applications of a page, for their reader. */
export function describeApplications(
  words: Words,
  { applications }: AuthorizationsPage,
  language: Language,
): ConnectedApplication[] {
  const isOpen = applications.length <= MAX_OPEN;
  return applications.map((client) => ({ ...describeApplication(words, client, language), isOpen }));
}

function describeApplication(
  words: Words,
  client: AuthorizedClient,
  language: Language,
): Omit<ConnectedApplication, 'isOpen'> {
  const { account, formats } = TEXTS[language];
  const { clientId, clientName, isBlocked, canSpend, authorizations, live, orMore } = client;
  const total = countConnections(live, orMore, account);
  const used = authorizations.flatMap(({ lastUsedOn }) => lastUsedOn ?? []).sort();
  const lastUsedOn = used.at(-1);
  return {
    clientId,
    name: clientName,
    logo: logoPath({ clientId, logo: client.clientLogo }),
    isBlocked,
    canSpend,
    spending: describeTotalSpending(words, client, language),
    total,
    lastUse: lastUsedOn === undefined ? account.neverUsed : account.lastUsed(formats.utcDay(lastUsedOn)),
    expiresSoon: authorizations.some(({ expiresSoon }) => expiresSoon),
    connections: authorizations.map((one) => describeConnection(words, one, live > 1, language)),
    all: live > 1 ? describeAll(client, total, language) : null,
  };
}

function describeAll(
  { clientName, disconnectAllToken }: AuthorizedClient,
  total: string,
  language: Language,
): ConnectedApplication['all'] {
  const question = TEXTS[language].account.questionAll(clientName, total);
  return { fullName: say`${clientName}`, question, formToken: disconnectAllToken };
}

/** @param isOneOfSeveral whether its application has others */
function describeConnection(
  words: Words,
  authorization: LiveAuthorization,
  isOneOfSeveral: boolean,
  language: Language,
): Connection {
  const { grantId, instanceName, confirmedAt, expiresAt, lastUsedOn } = authorization;
  const { account, formats } = TEXTS[language];
  return {
    grantId,
    ...namesOf(authorization, isOneOfSeveral, language),
    instanceName,
    spending: isOneOfSeveral ? describeSpending(words, authorization, language) : null,
    allowedOn: formats.day(confirmedAt, words.timeZone),
    validUntil: formats.day(expiresAt, words.timeZone),
    expiresSoon: authorization.expiresSoon,
    lastUse: lastUsedOn === null ? account.never : formats.utcDay(lastUsedOn),
    rights: describeRights(authorization.rights, words, language),
    formToken: authorization.disconnectToken,
  };
}

function namesOf(
  { clientName, instanceName }: LiveAuthorization,
  isOneOfSeveral: boolean,
  language: Language,
): Pick<Connection, 'heading' | 'fullName' | 'question'> {
  const { unnamed, question, questionOf } = TEXTS[language].account;
  if (instanceName === null && !isOneOfSeveral)
    return { heading: null, fullName: say`${clientName}`, question: question(clientName) };
  const fullName = fullNameOf(clientName, instanceName, language);
  return {
    heading: instanceName ?? unnamed,
    fullName,
    question: questionOf(clientName, instanceName ?? inSentence(unnamed)),
  };
}

/** One connection of several, for example "Demo Shop, anna-tablet". */
export function fullNameOf(clientName: string, instanceName: string | null, language: Language): string {
  const { unnamed } = TEXTS[language].account;
  return `${say`${clientName}`}, ${instanceName === null ? inSentence(unnamed) : say`${instanceName}`}`;
}

/** For example "999 connections or more". */
export function countConnections(
  live: number,
  orMore: boolean,
  account: Pick<Texts['account'], 'connections' | 'orMore'>,
): string {
  const connections = account.connections(live);
  return orMore ? account.orMore(connections) : connections;
}

/** An event of the user's history as a sentence. */
export function describeEvent(
  words: Words,
  { kind, at, clientName, instanceName, rights, network }: HistoryEvent,
  language: Language,
): DescribedEvent {
  const { history, formats } = TEXTS[language];
  return {
    time: formats.time(at, words.timeZone),
    text: history.kinds[kind](clientName ?? history.deletedClient),
    isWarning: isWarningKind(kind) && !isMostOftenOwn(kind),
    instanceName,
    rights: rights && describeRights(rights, words, language),
    network: network === null ? null : history.network(beginningOf(network)),
  };
}

/** Sessions by what their user knows them by. @param now by the clock of their times */
export function describeSessions(
  words: Pick<Words, 'timeZone'>,
  sessions: readonly UserSession[],
  now: Date,
  language: Language,
): DescribedSession[] {
  const { alike } = TEXTS[language].security;
  const described = sessions.map((session) => describeSession(words, session, now, language));
  return described.map((one, at) => {
    const before = described.slice(0, at).filter((other) => areAlike(one, other)).length;
    if (before === 0) return one;
    return { ...one, device: alike(one.device, TEXTS[language].formats.number(before + 1)) };
  });
}

function areAlike(one: DescribedSession, other: DescribedSession): boolean {
  return one.device === other.device && one.network === other.network && one.since === other.since;
}

function describeSession(
  { timeZone }: Pick<Words, 'timeZone'>,
  { sessionId, isThis, browser, system, network, createdAt, seenAt, endToken }: UserSession,
  now: Date,
  language: Language,
): DescribedSession {
  const { security, history, formats } = TEXTS[language];
  const device = security.device(browser ?? security.unknownBrowser, system ?? security.unknownSystem);
  const ago = formats.ago(seenAt, now);
  return {
    sessionId,
    device: isThis ? `${security.thisSession} (${device})` : device,
    network: network === null ? null : history.network(beginningOf(network)),
    since: security.since(formats.time(createdAt, timeZone)),
    seen: security.seen(ago === null ? formats.time(seenAt, timeZone) : formats.clock(seenAt, timeZone), ago),
    endToken,
  };
}
