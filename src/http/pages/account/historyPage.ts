import type { FastifyReply, FastifyRequest } from 'fastify';
import { findHistoryPage, type HistoryEvent } from '../../../flows/account/history.ts';
import { isSuspicious } from '../../../flows/account/warnings.ts';
import { withValues } from '../../../languages/languages.ts';
import { describeRights } from '../../../languages/rights.ts';
import { sessionOf } from '../../browser/forms.ts';
import { seeOther } from '../../browser/redirects.ts';
import { type PageLocale, pageLocaleOf } from '../../describe/describe.ts';
import { describeDevice, describeNetwork } from '../../describe/describeWarnings.ts';
import { queryParameters } from '../../request/parameters.ts';
import type { Page } from '../page.ts';
import { showPage } from '../views.ts';
import { type AccountPageHead, accountPageHead } from './accountPages.ts';

interface Fields extends AccountPageHead {
  readonly intro: string;
  readonly events: readonly ReturnType<typeof describeEvent>[];
  /** The newest events are on another page. */
  readonly isLater: boolean;
  readonly older: string | null;
}

export const HISTORY_PAGE: Page<Fields> = { name: 'history' };

/** What happened in the account. */
export async function showHistory(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { context } = request.server;
  const session = await sessionOf(request);
  if (session === null) return seeOther(reply);
  const from = queryParameters(request).find('from');
  const { events, older } = await findHistoryPage(context, session, from);
  const locale = pageLocaleOf(request);
  const { history, formats } = locale.texts;
  return showPage(reply, HISTORY_PAGE, {
    ...accountPageHead(session, reply),
    intro: history.intro({ zone: formats.zone(context.timeZone) }),
    events: events.map((event) => describeEvent(event, locale)),
    isLater: from !== undefined,
    older: older && `/oauth/account/history?from=${older}`,
  });
}

export function describeEvent(event: HistoryEvent, locale: PageLocale) {
  const { kind, at, clientName, instanceName, rights, network, confirmedBy } = event;
  const { history, formats } = locale.texts;
  return {
    day: formats.day(at, locale.timeZone),
    device: kind === 'signed_in' ? describeDevice(event, locale.texts) : null,
    time: formats.hour(at, locale.timeZone),
    text: withValues(history.kinds[kind], { client: clientName ?? history.deletedClient }),
    confirmedBy: confirmedBy && history.confirmedBy[confirmedBy],
    isWarning: isSuspicious(kind),
    instanceName,
    rights: rights && describeRights(rights, locale),
    network: describeNetwork(network, locale.texts),
  };
}
