import type { AuthorizationsPage, AuthorizedClient, LiveAuthorization } from '../../flows/authorizations.ts';
import type { HistoryEvent } from '../../flows/history.ts';
import type { UserSession } from '../../flows/userSessions.ts';
import { isWarningKind } from '../../flows/warnings.ts';
import { type Language, TEXTS } from '../../languages/languages.ts';
import { logoPath } from '../../rules/client.ts';
import type { ConnectedApplication, Connection, DescribedEvent, DescribedSession } from './accountPages.ts';
import { describeRights, type Words } from './describe.ts';

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
  const { clientId, clientName, isBlocked, authorizations, live, orMore } = client;
  const connections = account.connections(live);
  const total = orMore ? account.orMore(connections) : connections;
  const used = authorizations.flatMap(({ lastUsedOn }) => lastUsedOn ?? []).sort();
  const lastUsedOn = used.at(-1);
  return {
    clientId,
    name: clientName,
    logo: logoPath({ clientId, logo: client.clientLogo }),
    isBlocked,
    total,
    lastUse: lastUsedOn === undefined ? account.neverUsed : account.lastUsed(formats.utcDay(lastUsedOn)),
    expiresSoon: authorizations.some(({ expiresSoon }) => expiresSoon),
    connections: authorizations.map((authorization) => describeConnection(words, authorization, language)),
    all:
      live > 1
        ? { question: account.questionAll(clientName, total), formToken: client.disconnectAllToken }
        : null,
  };
}

function describeConnection(words: Words, authorization: LiveAuthorization, language: Language): Connection {
  const { grantId, clientName, instanceName, confirmedAt, expiresAt, lastUsedOn } = authorization;
  const { account, formats } = TEXTS[language];
  return {
    grantId,
    instanceName,
    allowedOn: formats.day(confirmedAt, words.timeZone),
    validUntil: formats.day(expiresAt, words.timeZone),
    expiresSoon: authorization.expiresSoon,
    lastUse: lastUsedOn === null ? account.never : formats.utcDay(lastUsedOn),
    rights: describeRights(authorization.rights, words, language),
    question:
      instanceName === null ? account.question(clientName) : account.questionOf(clientName, instanceName),
    formToken: authorization.disconnectToken,
  };
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
    // The payment password is most often the user's own, and each use of it in the history.
    isWarning: isWarningKind(kind) && kind !== 'payment_confirmed',
    instanceName,
    rights: rights && describeRights(rights, words, language),
    network: network === null ? null : history.network(network),
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
    network: network === null ? null : history.network(network),
    since: security.since(formats.time(createdAt, timeZone)),
    seen: security.seen(ago === null ? formats.time(seenAt, timeZone) : formats.clock(seenAt, timeZone), ago),
    endToken,
  };
}
