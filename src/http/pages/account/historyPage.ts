import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  findHistoryPage,
  findPastApproval,
  type HistoryEvent,
  type PastApproval,
} from '../../../flows/account/history.ts';
import { isSuspicious } from '../../../flows/account/warnings.ts';
import { signInStep } from '../../../flows/signIn/signIn.ts';
import { withValues } from '../../../languages/languages.ts';
import { tokenLifetimeFrom } from '../../../rules/common/lifetimes.ts';
import { readCookie } from '../../browser/cookies.ts';
import { sessionOf } from '../../browser/forms.ts';
import { seeOther } from '../../browser/redirects.ts';
import { type PageLocale, pageLocaleOf } from '../../describe/describe.ts';
import { describeGranted } from '../../describe/describeGranted.ts';
import { describeDevice, describeNetwork } from '../../describe/describeWarnings.ts';
import { queryParameters } from '../../request/parameters.ts';
import type { Page } from '../page.ts';
import { showSignIn } from '../signInPage.ts';
import { showPage } from '../views.ts';
import { describeConnection } from './accountPage.ts';
import { type AccountPageHead, accountPageHead } from './accountPages.ts';

interface Fields extends AccountPageHead {
  readonly intro: string;
  readonly events: readonly ReturnType<typeof describeEvent>[];
  /** The newest events are on another page. */
  readonly isLater: boolean;
  readonly older: string | null;
}

export const HISTORY_PATH = '/oauth/account/history';

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
    older: older && `${HISTORY_PATH}?from=${older}`,
  });
}

export function describeEvent(event: HistoryEvent, locale: PageLocale) {
  const { kind, at, clientName, instanceName, network, confirmedBy, browser, system } = event;
  const { history, formats } = locale.texts;
  return {
    day: formats.day(at, locale.timeZone),
    device: kind === 'signed_in' || browser || system ? describeDevice(event, locale.texts) : null,
    time: formats.hour(at, locale.timeZone),
    text: withValues(history.kinds[kind], { client: clientName ?? history.deletedClient }),
    confirmedBy: confirmedBy && history.confirmedBy[confirmedBy],
    isWarning: isSuspicious(kind),
    instanceName,
    network: describeNetwork(network, locale.texts),
    receipt: event.receipt && `${HISTORY_PATH}/${event.receipt}`,
  };
}

export const APPROVAL_PAGE: Page<AccountPageHead & ReturnType<typeof describeApproval>> = {
  name: 'approval',
};

/** The receipt of an approval, for as long as the trail has it. A message may link to it: signing in leads back. */
export async function showApproval(
  request: FastifyRequest<{ Params: { number: string } }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { context } = request.server;
  const session = await sessionOf(request);
  if (session === null) return showSignIn(reply, signInStep(context, null, readCookie(request, 'preLogin')));
  const approval = await findPastApproval(context, session, request.params.number);
  if (approval === null) {
    reply.callNotFound();
    return reply;
  }
  const described = describeApproval(approval, pageLocaleOf(request));
  return showPage(reply, APPROVAL_PAGE, { ...accountPageHead(session, reply), ...described });
}

export function describeApproval(approval: PastApproval, locale: PageLocale) {
  const { at, clientName, confirmedBy, end, live } = approval;
  const { history, receipt, formats } = locale.texts;
  const client = { name: clientName ?? history.deletedClient };
  const lifetime = tokenLifetimeFrom(at);
  const granted = describeGranted(approval.rights, { ...approval, client }, lifetime, locale);
  const next = end && { ...describeEvent(end, locale), time: formats.time(end.at, locale.timeZone) };
  return {
    ...granted,
    ...describeEvent(approval, locale),
    number: approval.receipt,
    allowedOn: formats.time(at, locale.timeZone),
    confirmed: receipt.confirmedBy[confirmedBy ?? 'nothing'],
    validUntil: granted.money === null ? formats.day(lifetime.expiresAt, locale.timeZone) : null,
    next: next?.receipt ?? null,
    over: next === null ? receipt.over : receipt.ended(next),
    connection: live === undefined ? null : describeConnection(live, false, locale),
  };
}
