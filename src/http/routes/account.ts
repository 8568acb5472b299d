import type { FastifyInstance, FastifyReply } from 'fastify';
import {
  type Connection as Connected,
  type ConnectionCount,
  type ConnectionsPage,
  type Cursor,
  cursorOf,
  disconnect,
  disconnectAll,
  findConnectionsPage,
  isDisconnected,
} from '../../flows/authorizations.ts';
import type { Session } from '../../flows/context.ts';
import { formTokenFits, printFormToken } from '../../flows/formToken.ts';
import { rightsOf } from '../../flows/grantRights.ts';
import { tokenExpiresAt } from '../../rules/lifetimes.ts';
import type { Parameters } from '../../rules/parameters.ts';
import { type Site, sessionOf } from '../browser/cookies.ts';
import { describeDay, describeRights } from '../browser/describe.ts';
import { OWN_FORM, senderOf } from '../browser/forms.ts';
import type { ConnectedApplication, Connection } from '../browser/pages.ts';
import { showSignIn, showTooMany } from '../browser/steps.ts';
import { showPage } from '../browser/views.ts';
import { callerOf } from '../server/caller.ts';
import { bodyParameters, queryParameters } from '../server/parameters.ts';

const DONE = 'The application is disconnected.';
const NOT_SIGNED_IN =
  'Nothing was disconnected yet, because you were no longer signed in. Sign in and press Disconnect again.';
const OUT_OF_DATE =
  'Nothing was disconnected yet, because the page was out of date. Press Disconnect again here.';

/** The user's connected applications, each with a way to disconnect it. */
export async function accountRoutes(app: FastifyInstance, site: Site): Promise<void> {
  const { context } = site;

  app.get('/', async (_request, reply) => reply.redirect(`${site.baseUrl}/account`, 303));

  app.get('/account', async (request, reply) => {
    const query = queryParameters(request);
    const session = await sessionOf(request, site);
    if (session === undefined) {
      return showSignIn(request, reply, site, null, undefined, isUndone(query) ? NOT_SIGNED_IN : null);
    }
    return showAccount(reply, site, session, query);
  });

  app.post('/account/disconnect', OWN_FORM, async (request, reply) => {
    const form = bodyParameters(request);
    const grantId = form.get('grant_id') ?? '';
    const session = await senderOf(request, site);
    // The token was made for this very grant, so a grant id that fits it is one that the page listed.
    if (!session || !formTokenFits(context, form.get('form_token'), 'disconnect', session, grantId)) {
      return backToAccount(reply, site, { undone: 'disconnect' });
    }
    await disconnect(context, session, grantId, callerOf(request));
    return backToAccount(reply, site, { ...queryOf(cursorIn(form)), disconnected: grantId });
  });

  app.post('/account/disconnect-all', OWN_FORM, async (request, reply) => {
    const form = bodyParameters(request);
    const clientId = form.get('client_id') ?? '';
    const session = await senderOf(request, site);
    if (!session || !formTokenFits(context, form.get('form_token'), 'disconnect-all', session, clientId)) {
      return backToAccount(reply, site, { undone: 'disconnect' });
    }
    const place = queryOf(cursorIn(form));
    if (!(await disconnectAll(context, session, clientId, callerOf(request)))) {
      return showTooMany(reply, { href: linkTo(place), text: 'See your connected applications' });
    }
    return backToAccount(reply, site, { ...place, disconnected_all: clientId });
  });
}

async function showAccount(
  reply: FastifyReply,
  site: Site,
  session: Session,
  query: Parameters,
): Promise<FastifyReply> {
  const { context } = site;
  const [disconnected, disconnected_all] = [query.get('disconnected'), query.get('disconnected_all')];
  const cursor = cursorIn(query);
  const [found, isDone] = await Promise.all([
    findConnectionsPage(context, session, cursor),
    isDisconnected(context, session, { grantId: disconnected, clientId: disconnected_all }),
  ]);
  if (cursor.grantId !== null && found.connections.length === 0 && found.older === null) {
    // All that was on this page is gone: the first one has what is left.
    return backToAccount(reply, site, { disconnected, disconnected_all });
  }
  return showPage(reply, {
    name: 'account',
    userName: session.user.name,
    userLogin: session.user.login,
    signOutToken: printFormToken(context, 'sign-out', session),
    ...describePage(site, session, found),
    place: cursor.grantId === null ? null : { name: cursor.direction, value: cursor.grantId },
    done: isDone ? DONE : null,
    undone: isUndone(query) ? OUT_OF_DATE : null,
  });
}

function isUndone(query: Parameters): boolean {
  return query.get('undone') === 'disconnect';
}

function describePage(site: Site, session: Session, { connections, counts, newer, older }: ConnectionsPage) {
  return {
    connections: connections.map((connection) => describeConnection(site, session, connection)),
    several: counts
      .filter(({ live }) => live > 1)
      .map((count) => describeAll(site, session, count, connections)),
    newer: newer && linkTo(queryOf(newer)),
    older: older && linkTo(queryOf(older)),
  };
}

function cursorIn(parameters: Parameters): Cursor {
  return cursorOf(parameters.get('older'), parameters.get('newer'));
}

type Query = Readonly<Record<string, string | undefined>>;

function queryOf({ direction, grantId }: Cursor): Query {
  return grantId === null ? {} : { [direction]: grantId };
}

function linkTo(query: Query): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? '/account' : `/account?${new URLSearchParams(given)}`;
}

function backToAccount(reply: FastifyReply, { baseUrl }: Site, query: Query): FastifyReply {
  return reply.header('cache-control', 'no-store').redirect(`${baseUrl}${linkTo(query)}`, 303);
}

function describeConnection({ context }: Site, session: Session, grant: Connected): Connection {
  return {
    grantId: grant.grantId,
    clientName: grant.clientName,
    isBlocked: grant.clientStatus === 'blocked',
    instanceName: grant.instanceName,
    confirmedOn: describeDay(grant.confirmedAt),
    validUntil: describeDay(tokenExpiresAt(grant.tokenIssuedAt ?? grant.confirmedAt)),
    rights: describeRights(rightsOf(grant), context.catalogue, context.currency),
    disconnectToken: printFormToken(context, 'disconnect', session, grant.grantId),
  };
}

function describeAll(
  { context }: Site,
  session: Session,
  { clientId, live, orMore }: ConnectionCount,
  shown: readonly Connected[],
): ConnectedApplication {
  return {
    clientId,
    clientName: shown.find((connection) => connection.clientId === clientId)?.clientName ?? '',
    total: `${live.toLocaleString('en')}${orMore ? ' or more' : ''}`,
    disconnectAllToken: printFormToken(context, 'disconnect-all', session, clientId),
  };
}
