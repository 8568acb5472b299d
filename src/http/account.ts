import type { FastifyInstance } from 'fastify';
import { disconnect, findConnections, isDisconnected } from '../flows/connections.ts';
import type { Grant, Session } from '../flows/context.ts';
import { formTokenFits, printFormToken } from '../flows/formToken.ts';
import { rightsOf } from '../flows/grantRights.ts';
import { describeDay, describeRights } from '../oauth/describe.ts';
import { tokenExpiresAt } from '../oauth/lifetime.ts';
import { type Site, sessionOf } from './browserSession.ts';
import { callerOf } from './caller.ts';
import { OWN_FORM, senderOf } from './ownForms.ts';
import type { Connection } from './pages.ts';
import { bodyParameters, queryParameters } from './requestParameters.ts';
import { showSignIn } from './steps.ts';
import { showPage } from './views.ts';

/** The user's connected applications, each with a way to disconnect it. */
export async function accountRoutes(app: FastifyInstance, site: Site): Promise<void> {
  const { context } = site;

  app.get('/', async (_request, reply) => reply.redirect(`${site.baseUrl}/account`, 303));

  app.get('/account', async (request, reply) => {
    const session = await sessionOf(request, site);
    if (session === undefined) return showSignIn(request, reply, site, null);
    const connections = await findConnections(context, session);
    const named = queryParameters(request).get('disconnected');
    return showPage(reply, {
      name: 'account',
      userName: session.user.name,
      userLogin: session.user.login,
      signOutToken: printFormToken(context, 'sign-out', session),
      connections: connections.map((grant) => describeConnection(site, session, grant)),
      done: (await isDisconnected(context, session, named)) ? 'The application is disconnected.' : null,
    });
  });

  app.post('/account/disconnect', OWN_FORM, async (request, reply) => {
    const form = bodyParameters(request);
    const grantId = form.get('grant_id') ?? '';
    const session = await senderOf(request, site);
    // The token was made for this very grant, so a grant id that fits it is one that the page listed.
    const fits = session && formTokenFits(context, form.get('form_token'), 'disconnect', session, grantId);
    const done = fits && (await disconnect(context, session, grantId, callerOf(request)));
    reply.header('cache-control', 'no-store');
    return reply.redirect(`${site.baseUrl}/account${done ? `?disconnected=${grantId}` : ''}`, 303);
  });
}

function describeConnection({ context }: Site, session: Session, grant: Grant): Connection {
  return {
    grantId: grant.grantId,
    clientName: grant.clientName,
    instanceName: grant.instanceName,
    confirmedOn: describeDay(grant.confirmedAt),
    validUntil: describeDay(tokenExpiresAt(grant.tokenIssuedAt ?? grant.confirmedAt)),
    rights: describeRights(rightsOf(grant), context.catalogue, context.currency),
    disconnectToken: printFormToken(context, 'disconnect', session, grant.grantId),
  };
}
