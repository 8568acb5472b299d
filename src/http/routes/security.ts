import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Context } from '../../flows/context.ts';
import { findLastPayment, type HistoryEvent } from '../../flows/history.ts';
import type { Session } from '../../flows/session.ts';
import { endOtherSessions, endSession, findUserSessions } from '../../flows/userSessions.ts';
import type { Texts } from '../../languages/languages.ts';
import { describeSession } from '../browser/describeAccount.ts';
import { OWN_FORM, receiveForm, sessionOf } from '../browser/forms.ts';
import { languageOf, textsOf } from '../browser/language.ts';
import { ownPage, seeOther } from '../browser/steps.ts';
import { showPage } from '../browser/views.ts';
import { queryParameters } from '../parameters.ts';

/** Where the page of this file is. */
export const SECURITY = '/account/security';

/** Where the user is signed in, and the ways to the passwords. */
export function securityRoutes(app: FastifyInstance, context: Context): void {
  app.get(SECURITY, async (request, reply) => {
    const session = await sessionOf(request, context);
    if (session === null) return seeOther(reply, context, '/account');
    return showSecurity(reply, context, session, queryParameters(request).get('said'));
  });

  app.post('/account/sessions/end', OWN_FORM, async (request, reply) => {
    const { form, session } = await receiveForm(request, context);
    if (session === null) return seeOther(reply, context, '/account');
    const sent = { sessionId: form.get('session_id') ?? '', formToken: form.get('form_token') };
    const { outcome } = await endSession(context, session, sent);
    return seeOther(reply, context, `${SECURITY}?said=${outcome}`);
  });

  app.post('/account/sessions/end-others', OWN_FORM, async (request, reply) => {
    const { form, session } = await receiveForm(request, context);
    if (session === null) return seeOther(reply, context, '/account');
    const { outcome } = await endOtherSessions(context, session, form.get('form_token'));
    return seeOther(reply, context, `${SECURITY}?said=${outcome}`);
  });
}

/** @param said what the page says once: `ended`, `changed` or `stale` */
async function showSecurity(
  reply: FastifyReply,
  context: Context,
  session: Session,
  said: string | undefined,
): Promise<FastifyReply> {
  const { request } = reply;
  const texts = textsOf(request);
  const [{ sessions, endOthersToken }, payment] = await Promise.all([
    findUserSessions(context, session),
    findLastPayment(context, session),
  ]);
  return showPage(reply, {
    name: 'security',
    ...ownPage(context, session),
    sessions: sessions.map((one) => describeSession(context, one, languageOf(request))),
    endOthersToken,
    lastPayment: payment && describePayment(context, payment, texts),
    hasPaymentPassword: session.user.paymentPasswordHash !== null,
    done: said === 'ended' || said === 'changed' ? texts.security[said] : null,
    undone: said === 'stale' ? texts.security.undone : null,
  });
}

function describePayment(
  { timeZone }: Context,
  { clientName, at, network }: HistoryEvent,
  { security, history, formats }: Texts,
): string {
  const client = clientName ?? history.deletedClient;
  return security.lastPayment(client, formats.time(at, timeZone), network ?? security.unknownNetwork);
}
