import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Cursor, cursorOf, disconnect, findAuthorizationsPage } from '../../flows/authorizations.ts';
import type { Context } from '../../flows/context.ts';
import { findDisconnected } from '../../flows/disconnected.ts';
import type { Session } from '../../flows/session.ts';
import { signInStep } from '../../flows/signIn.ts';
import { stopToken } from '../../flows/stopEverything.ts';
import type { Texts } from '../../languages/languages.ts';
import type { Parameters } from '../../rules/parameters.ts';
import { readCookies } from '../browser/cookies.ts';
import { describeApplications } from '../browser/describeAccount.ts';
import { describeDisconnected } from '../browser/describeDisconnected.ts';
import { OWN_FORM, receiveForm, sessionOf } from '../browser/forms.ts';
import { languageOf, textsOf } from '../browser/language.ts';
import { showTooMany } from '../browser/notices.ts';
import { ownPage, seeOther, showSignIn } from '../browser/steps.ts';
import { showPage } from '../browser/views.ts';
import { warningsOn } from '../browser/warnings.ts';
import { queryParameters } from '../parameters.ts';
import { callerOf } from '../server/caller.ts';
import { describeStop } from './stop.ts';

/** The forms that disconnect: what each of them names, and the parameter that says on the account page that it is done. */
const DISCONNECT_FORMS = {
  disconnect: { field: 'grant_id', done: 'disconnected' },
  'disconnect-all': { field: 'client_id', done: 'disconnected_all' },
};
const UNDONE = '/account?undone=disconnect';

/** The user's connected applications, each with a way to disconnect it. */
export function accountRoutes(app: FastifyInstance, context: Context): void {
  // After a wrong password the address bar has the path of the form: opened as a page, it leads to the account page.
  for (const path of ['/', '/sign-in', '/payment-password']) {
    app.get(path, async (_request, reply) => reply.redirect(`${context.baseUrl}/account`, 303));
  }

  app.get('/account', async (request, reply) => {
    const query = queryParameters(request);
    const session = await sessionOf(request, context);
    if (session !== null) return showAccount(reply, context, session, query);
    const step = signInStep(context, null, readCookies(request, context).preLogin);
    const undone = undoneOf(query, textsOf(request))?.notSignedIn ?? null;
    return showSignIn(reply, context, step, { undone });
  });

  app.post('/account/disconnect', OWN_FORM, disconnectBy(context, 'disconnect'));
  app.post('/account/disconnect-all', OWN_FORM, disconnectBy(context, 'disconnect-all'));
}

async function showAccount(
  reply: FastifyReply,
  context: Context,
  session: Session,
  query: Parameters,
): Promise<FastifyReply> {
  const { request } = reply;
  const [texts, language] = [textsOf(request), languageOf(request)];
  const cursor = cursorIn(query);
  const [disconnected, disconnected_all] = [query.get('disconnected'), query.get('disconnected_all')];
  const [page, warnings, found, stopped] = await Promise.all([
    findAuthorizationsPage(context, session, cursor),
    warningsOn('account', request, context, session),
    findDisconnected(context, session, { grantId: disconnected, clientId: disconnected_all }),
    query.get('stopped') === undefined ? null : describeStop(context, session, texts),
  ]);
  if (cursor.grantId !== null && page.authorizations.length === 0 && page.older === null) {
    // All that was on this page is gone: the first one has what is left.
    return seeOther(reply, context, accountPath(FIRST, { disconnected, disconnected_all }));
  }
  const done = found && describeDisconnected(found, language);
  const undone = undoneOf(query, texts);
  return showPage(reply, {
    name: 'account',
    ...ownPage(context, session),
    title: done?.title ?? undone?.titleUndone ?? texts.account.title,
    applications: describeApplications(context, page, language),
    newer: page.newer && accountPath(page.newer),
    older: page.older && accountPath(page.older),
    place: cursor,
    warnings,
    stopToken: stopToken(context, session),
    done: done?.done ?? null,
    ways: [],
    undone: undone?.outOfDate ?? null,
    ...stopped,
  });
}

/** What is said of a form that did nothing, whether or not somebody is signed in now. */
function undoneOf(query: Parameters, { account, stop }: Texts) {
  switch (query.get('undone')) {
    case 'disconnect':
      return account;
    case 'stop':
      return stop;
    default:
      return null;
  }
}

function disconnectBy(context: Context, action: keyof typeof DISCONNECT_FORMS) {
  const { field, done } = DISCONNECT_FORMS[action];
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { form, session } = await receiveForm(request, context);
    if (session === null) return seeOther(reply, context, UNDONE);
    const id = form.get(field) ?? '';
    const sent = { action, id, formToken: form.get('form_token') };
    const { outcome } = await disconnect(context, session, sent, callerOf(request));
    if (outcome === 'stale') return seeOther(reply, context, UNDONE);
    const cursor = cursorIn(form);
    if (outcome === 'too_many') return showTooMany(reply, accountPath(cursor), 'account');
    return seeOther(reply, context, accountPath(cursor, { [done]: id }));
  };
}

const FIRST = cursorOf(undefined, undefined);

function cursorIn(parameters: Parameters): Cursor {
  return cursorOf(parameters.get('older'), parameters.get('newer'));
}

/** @param said what the page says besides, as parameters; undefined ones are left out */
function accountPath({ direction, grantId }: Cursor, said: Record<string, string | undefined> = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ [direction]: grantId, ...said })) {
    if (value) query.set(name, value);
  }
  return query.size === 0 ? '/account' : `/account?${query}`;
}
