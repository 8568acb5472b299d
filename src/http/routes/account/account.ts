import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { cursorOf, findAuthorizationsPage } from '../../../flows/account/authorizations.ts';
import { disconnect } from '../../../flows/account/disconnect.ts';
import { findHistoryPage } from '../../../flows/account/history.ts';
import type { Context } from '../../../flows/common/context.ts';
import { signInStep } from '../../../flows/signIn/signIn.ts';
import { readCookie } from '../../browser/cookies.ts';
import { OWN_FORM, receiveForm, sessionOf } from '../../browser/forms.ts';
import { lastOutcome, noteOn, rememberOutcome } from '../../browser/outcomes.ts';
import { wordsFor } from '../../describe/describe.ts';
import { describeApplications, describeDisconnected, describeEvent } from '../../describe/describeAccount.ts';
import { warningsOn } from '../../describe/warnings.ts';
import { refuseDecision } from '../../pages/notices.ts';
import { ownPage, seeOther, showSignIn, toSignIn } from '../../pages/steps.ts';
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

/** A user's connected applications, their disconnection, and the history. */
export function accountRoutes(app: FastifyInstance, context: Context): void {
  app.get('/', async (_request, reply) => reply.redirect(`${context.baseUrl}/account`, 303));
  app.get('/account', showAccount);
  app.get('/account/history', showHistory);

  for (const form of DISCONNECT_FORMS)
    app.post(`/account/${form.action}`, OWN_FORM, receiveDisconnection(form));
}

async function showAccount(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { context } = request.server;
  const session = await sessionOf(request);
  if (session === null) return showSignIn(reply, signInStep(context, null, readCookie(request, 'preLogin')));
  const words = wordsFor(request);
  const { texts } = words;
  const from = cursorOf(queryParameters(request).get('older'));
  const last = lastOutcome(reply, ACCOUNT);
  const [page, warnings, stopped] = await Promise.all([
    findAuthorizationsPage(context, session, from),
    warningsOn(request, session),
    last?.outcome === 'pressed' ? describeStop(context, session, words) : null,
  ]);
  if (from !== null && page.applications.length === 0 && page.older === null) {
    // This page is empty now: the first one has the rest.
    return seeOther(reply, ACCOUNT);
  }
  const done = last?.outcome === 'disconnected' ? describeDisconnected(last.typed.join(), texts) : null;
  const undone = noteOn(reply, ACCOUNT, session.user);
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
}

async function showHistory(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { context } = request.server;
  const session = await sessionOf(request);
  if (session === null) return seeOther(reply, ACCOUNT);
  const from = queryParameters(request).get('from');
  const { events, older } = await findHistoryPage(context, session, from);
  const words = wordsFor(request);
  const { history, formats } = words.texts;
  return showPage(reply, {
    name: 'history',
    ...ownPage(session, reply),
    intro: history.intro(formats.zone(context.timeZone)),
    events: events.map((event) => describeEvent(event, words)),
    isLater: from !== undefined,
    older: older && `/account/history?from=${older}`,
  });
}

const receiveDisconnection =
  ({ action, field }: (typeof DISCONNECT_FORMS)[number]) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { form, session } = await receiveForm(request);
    if (session === null) return toSignIn(reply);
    const [id = '', what = ''] = [form.get(field), form.get('what')];
    const sent = { action, id, formToken: form.get('form_token') };
    const { outcome } = await disconnect(request.server.context, session, sent, callerOf(request));
    if (outcome === 'too_many') refuseDecision(reply, ACCOUNT);
    else rememberOutcome(reply, outcome, ACCOUNT, { typed: [what] });
    return seeOther(reply, accountPath(cursorOf(form.get('older'))));
  };

function accountPath(older: string | null): string {
  return older === null ? ACCOUNT : `${ACCOUNT}?older=${older}`;
}
