import type { AuthorizedClient, LiveAuthorization } from '../../flows/account/authorizations.ts';
import type { HistoryEvent } from '../../flows/account/history.ts';
import type { UserSession } from '../../flows/account/userSessions.ts';
import { isAlarming } from '../../flows/account/warnings.ts';
import { inSentence, say } from '../../languages/formats.ts';
import type { Texts } from '../../languages/languages.ts';
import { describeRights } from '../../languages/rights.ts';
import { maskOf } from '../../rules/common/network.ts';
import { logoPath } from '../../rules/request/client.ts';
import type { Words } from './describe.ts';
import { describeSpending, describeTotalSpending } from './describeSpending.ts';

/** Applications shown with all their rights; if there are more, they are folded. */
const MAX_OPEN = 1;

export function describeApplications(applications: readonly AuthorizedClient[], words: Words) {
  const isOpen = applications.length <= MAX_OPEN;
  return applications.map((client) => ({ isOpen, ...describeApplication(client, words) }));
}

function describeApplication(client: AuthorizedClient, words: Words) {
  const { account, formats } = words.texts;
  const { clientId, clientName, isBlocked, canSpend, authorizations, live, orMore } = client;
  const connections = account.connections(live);
  const total = orMore ? account.orMore(connections) : connections; // such as "999 connections or more"
  const used = authorizations.flatMap(({ lastUsedOn }) => lastUsedOn ?? []).sort();
  const lastUsedOn = used.at(-1);
  const question = account.questionAll(clientName, total);
  const all = { fullName: say`${clientName}`, question, formToken: client.disconnectAllToken };
  return {
    clientId,
    name: clientName,
    logo: logoPath({ clientId, logo: client.clientLogo }),
    isBlocked,
    canSpend,
    spending: describeTotalSpending(client, words.texts),
    total,
    lastUse: lastUsedOn === undefined ? account.neverUsed : account.lastUsed(formats.utcDay(lastUsedOn)),
    expiresSoon: authorizations.some(({ expiresSoon }) => expiresSoon),
    connections: authorizations.map((one) => describeConnection(one, live > 1, words)),
    all: live > 1 ? all : null,
  };
}

/** @param isOneOfSeveral true if its application has others */
function describeConnection(authorization: LiveAuthorization, isOneOfSeveral: boolean, words: Words) {
  const { grantId, clientName, instanceName, confirmedAt, expiresAt, lastUsedOn } = authorization;
  const { account, formats } = words.texts;
  const { unnamed, question, questionOf } = account;
  return {
    grantId,
    instanceName,
    spending: isOneOfSeveral ? describeSpending(authorization, words.texts) : null,
    allowedOn: formats.day(confirmedAt, words.timeZone),
    validUntil: formats.day(expiresAt, words.timeZone),
    expiresSoon: authorization.expiresSoon,
    lastUse: lastUsedOn === null ? account.never : formats.utcDay(lastUsedOn),
    rights: describeRights(authorization.rights, words),
    formToken: authorization.disconnectToken,
    ...(instanceName === null && !isOneOfSeveral
      ? { heading: null, fullName: say`${clientName}`, question: question(clientName) }
      : {
          heading: instanceName ?? unnamed,
          fullName: fullNameOf(clientName, instanceName, account),
          question: questionOf(clientName, instanceName ?? inSentence(unnamed)),
        }),
  };
}

/** One connection of several, for example "Demo Shop, anna-tablet". */
function fullNameOf(clientName: string, instanceName: string | null, { unnamed }: Texts['account']): string {
  return `${say`${clientName}`}, ${instanceName === null ? inSentence(unnamed) : say`${instanceName}`}`;
}

/** After disconnecting: the list shows the current state. @param what as the pressed button called it */
export function describeDisconnected(what: string, { account: { disconnected } }: Texts) {
  const title = disconnected.title(what);
  return { title, done: `${title}. ${disconnected.others}` };
}

export function describeEvent(event: HistoryEvent, words: Words) {
  const { kind, at, clientName, instanceName, rights, network, browser, system, confirmedBy } = event;
  const { history, formats, security } = words.texts;
  const device = security.device(browser, system);
  return {
    day: formats.day(at, words.timeZone),
    device: kind === 'signed_in' ? device : null,
    time: formats.hour(at, words.timeZone),
    text: history.kinds[kind](clientName ?? history.deletedClient),
    confirmedBy: confirmedBy && words.texts.history.confirmedBy[confirmedBy],
    isWarning: isAlarming(kind),
    instanceName,
    rights: rights && describeRights(rights, words),
    network: network === null ? null : history.network(maskOf(network)),
  };
}

/** Sessions in terms that their user knows. @param now decides which day is today */
export function describeSessions(sessions: readonly UserSession[], now: Date, words: Words) {
  const { security, formats } = words.texts;
  const counts = new Map<string, number>();
  return sessions.map((session) => {
    const one = describeSession(session, now, words);
    const shown = JSON.stringify([one.device, one.network, one.since]);
    const count = (counts.get(shown) ?? 0) + 1;
    counts.set(shown, count);
    return count === 1 ? one : { ...one, device: security.alike(one.device, formats.number(count)) };
  });
}

function describeSession(session: UserSession, now: Date, { texts, timeZone }: Words) {
  const { sessionId, isCurrent, browser, system, network, createdAt, seenAt, endToken } = session;
  const { security, history, formats } = texts;
  const device = security.device(browser, system);
  const when = (time: Date) =>
    formats.time(time, timeZone).replace(formats.day(now, timeZone), security.today);
  return {
    sessionId,
    device: isCurrent ? `${security.thisSession} (${device})` : device,
    network: network === null ? null : history.network(maskOf(network)),
    since: security.since(when(createdAt)),
    seen: security.seen(when(seenAt)),
    endToken,
  };
}
