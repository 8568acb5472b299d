import type { Warning, Warnings } from '../../flows/account/warnings.ts';
import { type Texts, withValues } from '../../languages/languages.ts';
import type { Device } from '../../rules/account/userAgent.ts';
import { displayNetworkOf } from '../../rules/common/network.ts';
import type { PageLocale } from './describe.ts';

/** Each is one event, one line of facts and one question; further ones are folded, with one answer. */
export function describeWarnings({ first, others, hasMore }: Warnings, locale: PageLocale) {
  const described = (form: Warnings['first']) => ({
    ...form,
    warnings: form.warnings.map((warning) => describeWarning(warning, locale)),
  });
  const heading = others && locale.texts.warnings.others({ count: others.warnings.length });
  return { first: described(first), others: others && { heading, ...described(others) }, hasMore };
}

function describeWarning(warning: Warning, { texts, timeZone }: PageLocale) {
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

export function describeDevice({ browser, system }: Device, { security }: Texts): string {
  return security.device({ browser: browser ?? 'none', system: system ?? 'none' });
}

/** For example "IP address 203.0.113.x"; null for an unknown one. */
export function describeNetwork(network: string | null, { history, formats }: Texts): string | null {
  return network && `${history.address} ${formats.code(displayNetworkOf(network))}`;
}
