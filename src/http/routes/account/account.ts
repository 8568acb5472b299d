import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { findAccountPage } from '../../../flows/account/authorizations.ts';
import {
  disconnect,
  isEverythingStopped,
  stopEverything,
  stopToken,
} from '../../../flows/account/disconnect.ts';
import { findHistoryPage } from '../../../flows/account/history.ts';
import { findWarnings, seeAll, seeWarnings } from '../../../flows/account/warnings.ts';
import type { Context } from '../../../flows/common/context.ts';
import type { Session } from '../../../flows/signIn/session.ts';
import { signInStep } from '../../../flows/signIn/signIn.ts';
import { callerOf } from '../../../listener/caller.ts';
import { readCookie, setCookie } from '../../browser/cookies.ts';
import { sessionOf } from '../../browser/forms.ts';
import { ACCOUNT } from '../../browser/language.ts';
import { lastOutcome, noteOn, rememberOutcome } from '../../browser/outcomes.ts';
import { type PageLanguage, pageLanguageOf, toPasswords } from '../../describe/describe.ts';
import { describeApplication, describeEvent, describeWarnings } from '../../describe/describeAccount.ts';
import { refuseDecision } from '../../pages/notices.ts';
import { addOwnForm, ownPage, seeOther, showSignIn, toSignIn, withQuery } from '../../pages/steps.ts';
import { showPage } from '../../pages/views.ts';
import { queryParameters } from '../../request/parameters.ts';

const STOP = '/oauth/account/stop';
const PART = ['application', 'older', 'search'];
/** A user's connected applications, their disconnection, the history, and its warnings. */
export function accountRoutes(app: FastifyInstance, context: Context): void {
  app.get('/', async (_request, reply) => seeOther(reply));
  app.get(ACCOUNT, showAccount);
  app.get('/oauth/account/history', showHistory);
  app.get(STOP, showStop);

  for (const action of ['disconnect', 'disconnect-all'] as const) {
    addOwnForm(app, `/oauth/account/${action}`, async (form, session, reply) => {
      const id = form.get(action === 'disconnect' ? 'grant_id' : 'client_id') ?? '';
      const sent = { action, id, formToken: form.get('form_token') };
      const { outcome } = await disconnect(context, session, sent, callerOf(reply.request));
      if (outcome === 'too_many') refuseDecision(reply, ACCOUNT);
      else rememberOutcome(reply, outcome, ACCOUNT, { typed: [form.get('what') ?? ''] });
      return withQuery(ACCOUNT, form.only(PART));
    });
  }

  addOwnForm(app, '/oauth/account/warnings', async (form, session, reply) => {
    const sent = { answered: form.get('answered') ?? '', formToken: form.get('form_token') };
    const seen = await seeWarnings(context, session, sent, readCookie(reply.request, 'seen'));
    if (seen !== null) setCookie(reply, 'seen', seen);
    return form.get('page') === 'security' ? '/oauth/account/security' : ACCOUNT;
  });

  // Disconnects every application and signs out every other browser.
  addOwnForm(app, STOP, async (form, session, reply) => {
    const { request } = reply;
    const { outcome } = await stopEverything(context, session, form.get('form_token'), callerOf(request));
    if (outcome === 'stale') rememberOutcome(reply, outcome, STOP);
    if (outcome === 'too_many') refuseDecision(reply, STOP, 'not_stopped');
    if (outcome !== 'pressed') return STOP;
    // Who stops everything has answered all warnings.
    setCookie(reply, 'seen', await seeAll(context, session, readCookie(request, 'seen')));
    rememberOutcome(reply, outcome, ACCOUNT);
    return ACCOUNT;
  });
}

async function showAccount(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { context } = request.server;
  const session = await sessionOf(request);
  if (session === null) return showSignIn(reply, signInStep(context, null, readCookie(request, 'preLogin')));
  const words = pageLanguageOf(request);
  const { account } = words.texts;
  const query = queryParameters(request);
  const [application = '', older = '', search = ''] = PART.map((name) => query.find(name)?.trim());
  const part = { application, older, search };
  const last = lastOutcome(reply, ACCOUNT);
  const [page, warnings, stopped] = await Promise.all([
    findAccountPage(context, session, part),
    findWarnings(context, session, readCookie(request, 'seen')),
    last?.outcome === 'pressed' ? describeStop(context, session, words) : null,
  ]);
  // This part is empty now: the first one has the rest.
  if (application + older !== '' && page.applications.length === 0) return seeOther(reply);
  const disconnected =
    last?.outcome === 'disconnected' ? account.disconnected({ what: last.typed.join() }) : null;
  const undone = noteOn(reply, ACCOUNT, session.user);
  return showPage(reply, {
    name: 'account',
    ...ownPage(session, reply),
    ...page,
    title: disconnected ?? (undone === null ? account.title : account.titleUndone),
    applications: page.applications.map((client) => describeApplication(client, words)),
    part,
    older: page.older && withQuery(ACCOUNT, query.only(['application', 'search']), `older=${page.older}`),
    warnings: warnings && describeWarnings(warnings, words),
    done: disconnected && `${disconnected}. ${account.stillConnected}`,
    ways: [],
    undone,
    ...stopped,
  });
}

/** The account page after stopping everything describes the current state: some of many thousands may be left. */
async function describeStop(context: Context, session: Session, words: PageLanguage) {
  const { stop } = words.texts;
  if (!(await isEverythingStopped(context, session))) {
    const ways = [{ href: STOP, text: `${stop.title}…` }];
    return { title: stop.titleUndone, done: null, undone: stop.undone, ways };
  }
  const ways = toPasswords(words, session.user.hasPaymentPassword);
  return { title: stop.titleDone, done: stop.done, undone: null, ways };
}

async function showHistory(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { context } = request.server;
  const session = await sessionOf(request);
  if (session === null) return seeOther(reply);
  const from = queryParameters(request).find('from');
  const { events, older } = await findHistoryPage(context, session, from);
  const words = pageLanguageOf(request);
  const { history, formats } = words.texts;
  return showPage(reply, {
    name: 'history',
    ...ownPage(session, reply),
    intro: history.intro({ zone: formats.zone(context.timeZone) }),
    events: events.map((event) => describeEvent(event, words)),
    isLater: from !== undefined,
    older: older && `/oauth/account/history?from=${older}`,
  });
}

async function showStop(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const session = await sessionOf(request);
  if (session === null) return toSignIn(reply);
  const undone = noteOn(reply, STOP, session.user);
  const formToken = stopToken(request.server.context, session);
  return showPage(reply, { name: 'stop', ...ownPage(session, reply), formToken, undone });
}
