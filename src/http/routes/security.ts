import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Context } from '../../flows/context.ts';
import type { Session } from '../../flows/session.ts';
import { endOtherSessions, endSession, findUserSessions } from '../../flows/userSessions.ts';
import { describeSessions } from '../browser/describeAccount.ts';
import { OWN_FORM, receiveForm, sessionOf } from '../browser/forms.ts';
import { languageOf, textsOf } from '../browser/language.ts';
import { ownPage, seeOther } from '../browser/steps.ts';
import { showPage } from '../browser/views.ts';
import { warningsOn } from '../browser/warnings.ts';
import { queryParameters } from '../parameters.ts';
import { callerOf } from '../server/caller.ts';

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
    const { outcome } = await endSession(context, session, sent, callerOf(request));
    return seeOther(reply, context, `${SECURITY}?said=${outcome}`);
  });

  app.post('/account/sessions/end-others', OWN_FORM, async (request, reply) => {
    const { form, session } = await receiveForm(request, context);
    if (session === null) return seeOther(reply, context, '/account');
    const { outcome } = await endOtherSessions(context, session, form.get('form_token'), callerOf(request));
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
  const { account, security } = textsOf(request);
  const [{ sessions, endOthersToken }, warnings] = await Promise.all([
    findUserSessions(context, session),
    warningsOn('security', request, context, session),
  ]);
  return showPage(reply, {
    name: 'security',
    ...ownPage(context, session),
    sessions: describeSessions(context, sessions, session.now, languageOf(request)),
    endOthersToken,
    warnings,
    hasPaymentPassword: session.user.paymentPasswordHash !== null,
    done: said === 'ended' || said === 'changed' ? security[said] : null,
    ways: said === 'changed' ? [{ href: '/account', text: account.title }] : [],
    undone: said === 'stale' ? security.undone : null,
  });
}
