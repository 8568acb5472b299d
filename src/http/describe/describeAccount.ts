import type { AuthorizedClient, LiveAuthorization } from '../../flows/account/authorizations.ts';
import type { HistoryEvent } from '../../flows/account/history.ts';
import type { UserSession } from '../../flows/account/userSessions.ts';
import { isAlarming, type Warning, type Warnings } from '../../flows/account/warnings.ts';
import { inSentence, isolated } from '../../languages/formats.ts';
import { type Texts, withValues } from '../../languages/languages.ts';
import { describeRights } from '../../languages/rights.ts';
import { maskOf } from '../../rules/common/network.ts';
import { logoPath } from '../../rules/request/client.ts';
import type { PageLanguage } from './describe.ts';
import { describeSpending, describeTotalSpending } from './describeLimits.ts';

type Device = Pick<UserSession, 'browser' | 'system'>;

export function describeApplication(client: AuthorizedClient, words: PageLanguage) {
  const { account, formats } = words.texts;
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
    spending: describeTotalSpending(client, words.texts),
    total,
    lastUse: account.lastUsed({ day: client.lastUsedOn ? formats.utcDay(client.lastUsedOn) : 'never' }),
    expiresSoon: authorizations.some(({ expiresSoon }) => expiresSoon),
    connections: authorizations.map((one) => describeConnection(one, live > 1, words)),
    all: live > 1 ? all : null,
  };
}

function describeConnection(authorization: LiveAuthorization, isOneOfSeveral: boolean, words: PageLanguage) {
  const { grantId, clientName, instanceName, confirmedAt, expiresAt, lastUsedOn } = authorization;
  const { account, formats } = words.texts;
  const isOnly = instanceName === null && !isOneOfSeveral;
  const client = isolated(clientName);
  const unnamed = inSentence(account.unnamed);
  return {
    grantId,
    heading: isOnly ? null : (instanceName ?? account.unnamed),
    fullName: isOnly ? client : `${client}, ${instanceName === null ? unnamed : isolated(instanceName)}`,
    question: isOnly
      ? account.question({ client: clientName })
      : account.questionOf({ client: clientName, connection: instanceName ?? unnamed }),
    spending: isOneOfSeveral ? describeSpending(authorization, words.texts) : null,
    allowedOn: formats.day(confirmedAt, words.timeZone),
    validUntil: formats.day(expiresAt, words.timeZone),
    expiresSoon: authorization.expiresSoon,
    lastUse: lastUsedOn === null ? account.never : formats.utcDay(lastUsedOn),
    rights: describeRights(authorization.rights, words),
    formToken: authorization.disconnectToken,
  };
}

export function describeEvent(event: HistoryEvent, words: PageLanguage) {
  const { kind, at, clientName, instanceName, rights, network, confirmedBy } = event;
  const { history, formats } = words.texts;
  return {
    day: formats.day(at, words.timeZone),
    device: kind === 'signed_in' ? describeDevice(event, words.texts) : null,
    time: formats.hour(at, words.timeZone),
    text: withValues(history.kinds[kind], { client: clientName ?? history.deletedClient }),
    confirmedBy: confirmedBy && history.confirmedBy[confirmedBy],
    isWarning: isAlarming(kind),
    instanceName,
    rights: rights && describeRights(rights, words),
    network: describeNetwork(network, words.texts),
  };
}

function describeDevice({ browser, system }: Device, { security }: Texts): string {
  return security.device({ browser: browser ?? 'none', system: system ?? 'none' });
}

/** For example "IP address 203.0.113.x"; null for an unknown one. */
function describeNetwork(network: string | null, { history }: Texts): string | null {
  return network && `${history.address} ${maskOf(network)}`;
}

/** Sessions in terms that their user knows. @param now decides which day is today */
export function describeSessions(
  sessions: readonly UserSession[],
  now: Date,
  { texts, timeZone }: PageLanguage,
) {
  const { security, formats } = texts;
  const counts = new Map<string, number>();
  const when = (time: Date) =>
    formats.time(time, timeZone).replace(formats.day(now, timeZone), security.today);
  return sessions.map((session) => {
    const { sessionId, isCurrent, network, createdAt, seenAt, endToken } = session;
    const device = describeDevice(session, texts);
    const one = {
      sessionId,
      device: isCurrent ? `${security.thisSession} (${device})` : device,
      network: describeNetwork(network, texts),
      since: security.since({ time: when(createdAt) }),
      seen: security.seen({ time: when(seenAt) }),
      endToken,
    };
    const shown = JSON.stringify([one.device, one.network, one.since]);
    const count = (counts.get(shown) ?? 0) + 1;
    counts.set(shown, count);
    return count === 1
      ? one
      : { ...one, device: security.alike({ device: one.device, number: formats.number(count) }) };
  });
}

/** Each is one event, one line of facts and one question; further ones are folded, with one answer. */
export function describeWarnings({ first, others, hasMore }: Warnings, words: PageLanguage) {
  const described = (form: Warnings['first']) => ({
    ...form,
    warnings: form.warnings.map((warning) => describeWarning(warning, words)),
  });
  const heading = others && words.texts.warnings.others({ count: others.warnings.length });
  return { first: described(first), others: others && { heading, ...described(others) }, hasMore };
}

function describeWarning(warning: Warning, { texts, timeZone }: PageLanguage) {
  const { kind, at, times, firstAt, clientName, network } = warning;
  const { warnings, history, formats } = texts;
  const client = clientName ?? history.deletedClient;
  const event = { ...history.kinds, ...warnings.events }[kind];
  const { [kind]: own }: Partial<Record<typeof kind, string>> = warnings.questions;
  const time = formats.time(at, timeZone);
  const facts = [
    ...(times > 1 ? [warnings.times({ times, day: formats.day(firstAt, timeZone) })] : []),
    times > 1 ? warnings.lastOn({ time }) : time,
    describeNetwork(network, texts) ?? warnings.unknownNetwork,
  ];
  return {
    event: withValues(event, { client, device: describeDevice(warning, texts) }),
    facts: facts.join(' · '),
    question: own ?? warnings.question,
    yes: own ? warnings.yes.did : warnings.yes.one,
  };
}
