import type { FastifyInstance } from 'fastify';
import { disconnect, stopEverything } from '../../../flows/account/disconnect.ts';
import { markAllSeen, seeWarnings } from '../../../flows/account/warnings.ts';
import type { Context } from '../../../flows/common/context.ts';
import { callerOf } from '../../../listener/caller.ts';
import { readCookie, setCookie } from '../../browser/cookies.ts';
import { ACCOUNT_PATH } from '../../browser/language.ts';
import { rememberOutcome } from '../../browser/outcomes.ts';
import { seeOther, withQuery } from '../../browser/redirects.ts';
import { ACCOUNT_PAGE_PARAMETERS, showAccount } from '../../pages/account/accountPage.ts';
import { addAccountForm } from '../../pages/account/accountPages.ts';
import { HISTORY_PATH, showApproval, showHistory } from '../../pages/account/historyPage.ts';
import { SECURITY_PATH } from '../../pages/account/securityPage.ts';
import { SECURE_PATH, STOP_PATH, showStopEverything } from '../../pages/account/stopPage.ts';
import { refuseDecision } from '../../pages/formErrors.ts';

/** A user's connected applications, their disconnection, the history, and its warnings. */
export function accountRoutes(app: FastifyInstance, context: Context): void {
  app.get('/', async (_request, reply) => seeOther(reply));
  app.get(ACCOUNT_PATH, showAccount);
  app.get(HISTORY_PATH, showHistory);
  app.get(`${HISTORY_PATH}/:number`, showApproval);
  for (const path of [STOP_PATH, SECURE_PATH]) app.get(path, showStopEverything);

  for (const action of ['disconnect', 'disconnect-all'] as const) {
    addAccountForm(app, `/oauth/account/${action}`, async (form, session, reply) => {
      const id = form.get(action === 'disconnect' ? 'grant_id' : 'client_id') ?? '';
      const sent = { action, id, formToken: form.get('form_token') };
      const outcome = await disconnect(context, session, sent, callerOf(reply.request));
      if (outcome === 'too_many') refuseDecision(reply, ACCOUNT_PATH);
      else rememberOutcome(reply, outcome, ACCOUNT_PATH, { typed: [form.get('what') ?? ''] });
      return withQuery(ACCOUNT_PATH, form.only(ACCOUNT_PAGE_PARAMETERS));
    });
  }

  addAccountForm(app, '/oauth/account/warnings', async (form, session, reply) => {
    const sent = { answered: form.get('answered') ?? '', formToken: form.get('form_token') };
    const seen = await seeWarnings(context, session, sent, readCookie(reply.request, 'seen'));
    if (seen !== null) setCookie(reply, 'seen', seen);
    return form.get('page') === 'security' ? SECURITY_PATH : ACCOUNT_PATH;
  });

  addAccountForm(app, STOP_PATH, async (form, session, reply) => {
    const { request } = reply;
    const outcome = await stopEverything(context, session, form.get('form_token'), callerOf(request));
    if (outcome === 'stale') rememberOutcome(reply, outcome, STOP_PATH);
    if (outcome === 'too_many') refuseDecision(reply, STOP_PATH, 'not_stopped');
    if (outcome !== 'pressed') return STOP_PATH;
    // Who stops everything has answered all warnings.
    setCookie(reply, 'seen', await markAllSeen(context, session, readCookie(request, 'seen')));
    rememberOutcome(reply, outcome, ACCOUNT_PATH);
    return ACCOUNT_PATH;
  });
}
