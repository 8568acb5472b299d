import type { FastifyInstance } from 'fastify';
import { cursorOf, findAuthorizationsPage } from '../../../flows/account/authorizations.ts';
import { disconnect, findDisconnected } from '../../../flows/account/disconnect.ts';
import type { Context } from '../../../flows/common/context.ts';
import { signInStep } from '../../../flows/signIn/signIn.ts';
import type { Texts } from '../../../languages/languages.ts';
import type { Parameters } from '../../../rules/request/parameters.ts';
import { readCookie } from '../../browser/cookies.ts';
import { OWN_FORM, receiveForm, sessionOf } from '../../browser/forms.ts';
import { textsOf } from '../../browser/language.ts';
import { noteOn } from '../../browser/outcomes.ts';
import { wordsFor } from '../../describe/describe.ts';
import { describeApplications, describeDisconnected } from '../../describe/describeAccount.ts';
import { warningsOn } from '../../describe/warnings.ts';
import { refuseDecision } from '../../pages/notices.ts';
import { ownPage, seeOther, showSignIn } from '../../pages/steps.ts';
import { showPage } from '../../pages/views.ts';
import { callerOf } from '../../request/caller.ts';
import { queryParameters } from '../../request/parameters.ts';
import { describeStop } from './security.ts';

/** The disconnecting forms: their field, and the account page's parameter for a success. */
const DISCONNECT_FORMS = [
  { action: 'disconnect', field: 'grant_id', done: 'disconnected' },
  { action: 'disconnect-all', field: 'client_id', done: 'disconnected_all' },
] as const;
const UNDONE = '/account?undone=disconnect';

export function accountRoutes(app: FastifyInstance, context: Context): void {
  app.get('/', async (_request, reply) => reply.redirect(`${context.baseUrl}/account`, 303));

  app.get('/account', async (request, reply) => {
    const query = queryParameters(request);
    const session = await sessionOf(request);
    if (session === null) {
      const step = signInStep(context, null, readCookie(request, 'preLogin'));
      return showSignIn(reply, step, undoneOf(query, textsOf(request))?.notSignedIn);
    }
    const words = wordsFor(request);
    const { texts } = words;
    const from = cursorOf(query.get('older'));
    const [disconnected, disconnected_all] = [query.get('disconnected'), query.get('disconnected_all')];
    const [page, warnings, found, stopped] = await Promise.all([
      findAuthorizationsPage(context, session, from),
      warningsOn(request, session),
      findDisconnected(context, session, { grantId: disconnected, clientId: disconnected_all }),
      query.get('stopped') === undefined ? null : describeStop(context, session, texts),
    ]);
    if (from !== null && page.applications.length === 0 && page.older === null) {
      // This page is empty now: the first one has the rest.
      return seeOther(reply, accountPath(null, { disconnected, disconnected_all }));
    }
    const done = found && describeDisconnected(found, texts);
    const undone = undoneOf(query, texts);
    const note = noteOn(reply, '/account', session.user);
    return showPage(reply, {
      name: 'account',
      ...ownPage(session, reply),
      title: done?.title ?? (note === null ? undone : texts.account)?.titleUndone ?? texts.account.title,
      applications: describeApplications(page.applications, words),
      from,
      older: page.older && accountPath(page.older),
      warnings,
      done: done?.done ?? null,
      ways: [],
      undone: note ?? undone?.outOfDate ?? null,
      ...stopped,
    });
  });

  for (const { action, field, done } of DISCONNECT_FORMS) {
    app.post(`/account/${action}`, OWN_FORM, async (request, reply) => {
      const { form, session } = await receiveForm(request);
      if (session === null) return seeOther(reply, UNDONE);
      const id = form.get(field) ?? '';
      const sent = { action, id, formToken: form.get('form_token') };
      const { outcome } = await disconnect(context, session, sent, callerOf(request));
      if (outcome === 'stale') return seeOther(reply, UNDONE);
      const from = cursorOf(form.get('older'));
      if (outcome === 'too_many') {
        refuseDecision(reply, '/account');
        return seeOther(reply, accountPath(from));
      }
      return seeOther(reply, accountPath(from, { [done]: id }));
    });
  }
}

/** The message for a form without effect, signed in or not. */
function undoneOf(query: Parameters, { account, stop }: Texts) {
  const undone = query.get('undone');
  if (undone === 'stop') return stop;
  return undone === 'disconnect' ? account : null;
}

/** @param said parameters for texts of the page */
function accountPath(older: string | null, said: Record<string, string | undefined> = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ older, ...said })) if (value) query.set(name, value);
  return query.size === 0 ? '/account' : `/account?${query}`;
}
