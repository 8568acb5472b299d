import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  type AuthorizationsPage,
  type AuthorizedClient,
  cursorOf,
  disconnect,
  findAuthorizationsPage,
  isDisconnected,
  type LiveAuthorization,
} from '../../flows/authorizations.ts';
import type { Context } from '../../flows/context.ts';
import { signInStep } from '../../flows/signIn.ts';
import type { Parameters } from '../../rules/parameters.ts';
import { readCookies } from '../browser/cookies.ts';
import { describeDay, describeRights } from '../browser/describe.ts';
import { OWN_FORM, receiveForm, sessionOf } from '../browser/forms.ts';
import { DISCONNECTED, NOT_SIGNED_IN, OUT_OF_DATE, showTooMany } from '../browser/notices.ts';
import type { AccountPage, Authorization, AuthorizedApplication } from '../browser/pages.ts';
import { seeOther, showSignIn } from '../browser/steps.ts';
import { showPage } from '../browser/views.ts';
import { callerOf } from '../server/caller.ts';
import { queryParameters } from '../server/parameters.ts';

/** The forms that disconnect: what each of them names, and the parameter that says on the account page that it is done. */
const DISCONNECT_FORMS = {
  disconnect: { field: 'grant_id', done: 'disconnected' },
  'disconnect-all': { field: 'client_id', done: 'disconnected_all' },
};
const UNDONE = { undone: 'disconnect' };

/** The user's connected applications, each with a way to disconnect it. */
export async function accountRoutes(app: FastifyInstance, context: Context): Promise<void> {
  // The last two are where the address bar leads after a wrong password.
  for (const path of ['/', '/sign-in', '/payment-password']) {
    app.get(path, async (_request, reply) => reply.redirect(`${context.baseUrl}/account`, 303));
  }

  app.get('/account', async (request, reply) => {
    const query = queryParameters(request);
    const isUndone = query.get('undone') === 'disconnect';
    const session = await sessionOf(request, context);
    if (session === null) {
      const step = signInStep(context, null, readCookies(request, context).preLogin);
      return showSignIn(reply, context, step, { undone: isUndone ? NOT_SIGNED_IN : null });
    }
    const [disconnected, disconnected_all] = [query.get('disconnected'), query.get('disconnected_all')];
    const cursor = cursorIn(query);
    const [page, isDone] = await Promise.all([
      findAuthorizationsPage(context, session, cursor),
      isDisconnected(context, session, { grantId: disconnected, clientId: disconnected_all }),
    ]);
    if (cursor.grantId !== null && page.authorizations.length === 0 && page.older === null) {
      // All that was on this page is gone: the first one has what is left.
      return backToAccount(reply, context, { disconnected, disconnected_all });
    }
    return showPage(reply, {
      name: 'account',
      ...describePage(context, page),
      place: cursor.grantId === null ? null : { name: cursor.direction, value: cursor.grantId },
      done: isDone ? DISCONNECTED : null,
      undone: isUndone ? OUT_OF_DATE : null,
    });
  });

  app.post('/account/disconnect', OWN_FORM, (request, reply) =>
    disconnectBy(request, reply, context, 'disconnect'),
  );
  app.post('/account/disconnect-all', OWN_FORM, (request, reply) =>
    disconnectBy(request, reply, context, 'disconnect-all'),
  );
}

async function disconnectBy(
  request: FastifyRequest,
  reply: FastifyReply,
  context: Context,
  action: keyof typeof DISCONNECT_FORMS,
): Promise<FastifyReply> {
  const { field, done } = DISCONNECT_FORMS[action];
  const { form, session } = await receiveForm(request, context);
  if (session === null) return backToAccount(reply, context, UNDONE);
  const id = form.get(field) ?? '';
  const sent = { action, id, formToken: form.get('form_token') };
  const { outcome } = await disconnect(context, session, sent, callerOf(request));
  if (outcome === 'stale') return backToAccount(reply, context, UNDONE);
  const place = queryOf(cursorIn(form));
  if (outcome === 'too_many') return showTooMany(reply, linkTo(place), 'account');
  return backToAccount(reply, context, { ...place, [done]: id });
}

function describePage(context: Context, page: AuthorizationsPage) {
  return {
    userName: page.user.name,
    userLogin: page.user.login,
    signOutToken: page.signOutToken,
    authorizations: page.authorizations.map((authorization) => describeOne(context, authorization)),
    several: page.clientsWithSeveral.map(describeAll),
    newer: page.newer && linkTo(queryOf(page.newer)),
    older: page.older && linkTo(queryOf(page.older)),
  } satisfies Partial<AccountPage>;
}

function describeOne({ catalogue, currency }: Context, authorization: LiveAuthorization): Authorization {
  const { confirmedAt, expiresAt, rights, ...shown } = authorization;
  return {
    ...shown,
    confirmedOn: describeDay(confirmedAt),
    validUntil: describeDay(expiresAt),
    rights: describeRights(rights, catalogue, currency),
  };
}

function describeAll({ live, orMore, ...shown }: AuthorizedClient): AuthorizedApplication {
  return { ...shown, total: `${live.toLocaleString('en')}${orMore ? ' or more' : ''}` };
}

function cursorIn(parameters: Parameters) {
  return cursorOf(parameters.get('older'), parameters.get('newer'));
}

type Query = Readonly<Record<string, string | undefined>>;

function queryOf({ direction, grantId }: ReturnType<typeof cursorIn>): Query {
  return grantId === null ? {} : { [direction]: grantId };
}

function linkTo(query: Query): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? '/account' : `/account?${new URLSearchParams(given)}`;
}

function backToAccount(reply: FastifyReply, context: Context, query: Query): FastifyReply {
  return seeOther(reply, context, linkTo(query));
}
