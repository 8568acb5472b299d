import type { FastifyInstance } from 'fastify';
import { cursorOf, findAuthorizationsPage } from '../../../flows/account/authorizations.ts';
import { disconnect } from '../../../flows/account/disconnect.ts';
import type { Context } from '../../../flows/common/context.ts';
import { signInStep } from '../../../flows/signIn/signIn.ts';
import type { Texts } from '../../../languages/languages.ts';
import type { Parameters } from '../../../rules/request/parameters.ts';
import { readCookie } from '../../browser/cookies.ts';
import { OWN_FORM, receiveForm, sessionOf } from '../../browser/forms.ts';
import { textsOf } from '../../browser/language.ts';
import { lastOutcome, noteOn, rememberOutcome } from '../../browser/outcomes.ts';
import { wordsFor } from '../../describe/describe.ts';
import { describeApplications, describeDisconnected } from '../../describe/describeAccount.ts';
import { warningsOn } from '../../describe/warnings.ts';
import { refuseDecision } from '../../pages/notices.ts';
import { ownPage, seeOther, showSignIn } from '../../pages/steps.ts';
import { showPage } from '../../pages/views.ts';
import { callerOf } from '../../request/caller.ts';
import { queryParameters } from '../../request/parameters.ts';
import { describeStop } from './security.ts';

/** The disconnecting forms, and their fields. */
const DISCONNECT_FORMS = [
  { action: 'disconnect', field: 'grant_id' },
  { action: 'disconnect-all', field: 'client_id' },
] as const;
const ACCOUNT = '/account';
const UNDONE = `${ACCOUNT}?undone=disconnect`;
/** A later look at the page is not about the last disconnection. */
const DONE_SECONDS = 60;

export function accountRoutes(app: FastifyInstance, context: Context): void {
  app.get('/', async (_request, reply) => reply.redirect(`${context.baseUrl}/account`, 303));

  app.get('/account', async (request, reply) => {
    const query = queryParameters(request);
    const session = await sessionOf(request);
    if (session === null) {
      const step = signInStep(context, null, readCookie(request, 'preLogin'));
      return showSignIn(reply, step, undoneIn(query, textsOf(request))?.notSignedIn);
    }
    const words = wordsFor(request);
    const { texts } = words;
    const from = cursorOf(query.get('older'));
    const [page, warnings, stopped] = await Promise.all([
      findAuthorizationsPage(context, session, from),
      warningsOn(request, session),
      query.get('stopped') === undefined ? null : describeStop(context, session, texts),
    ]);
    if (from !== null && page.applications.length === 0 && page.older === null) {
      // This page is empty now: the first one has the rest.
      return seeOther(reply, ACCOUNT);
    }
    const last = lastOutcome(reply, ACCOUNT);
    const done = last?.outcome === 'disconnected' ? describeDisconnected(last.typed.join(), texts) : null;
    const undone = noteOn(reply, ACCOUNT, session.user) ?? undoneIn(query, texts)?.outOfDate ?? null;
    const title = undone === null ? texts.account.title : texts.account.titleUndone;
    return showPage(reply, {
      name: 'account',
      ...ownPage(session, reply),
      title: done?.title ?? title,
      applications: describeApplications(page.applications, words),
      from,
      older: page.older && accountPath(page.older),
      warnings,
      done: done?.done ?? null,
      ways: [],
      undone,
      ...stopped,
    });
  });

  for (const { action, field } of DISCONNECT_FORMS) {
    app.post(`/account/${action}`, OWN_FORM, async (request, reply) => {
      const { form, session } = await receiveForm(request);
      if (session === null) return seeOther(reply, UNDONE);
      const [id = '', what = ''] = [form.get(field), form.get('what')];
      const sent = { action, id, formToken: form.get('form_token') };
      const { outcome } = await disconnect(context, session, sent, callerOf(request));
      if (outcome === 'stale') return seeOther(reply, UNDONE);
      if (outcome === 'too_many') refuseDecision(reply, ACCOUNT);
      else rememberOutcome(reply, outcome, ACCOUNT, { seconds: DONE_SECONDS, typed: [what] });
      return seeOther(reply, accountPath(cursorOf(form.get('older'))));
    });
  }
}

/** The messages for a form without effect; null for none. */
function undoneIn(query: Parameters, { outcomes }: Texts) {
  return query.get('undone') === undefined ? null : outcomes;
}

function accountPath(older: string | null): string {
  return older === null ? ACCOUNT : `${ACCOUNT}?older=${older}`;
}
