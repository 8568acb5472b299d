import type { FastifyInstance } from 'fastify';
import type { Context } from '../../flows/context.ts';
import { findHistoryPage } from '../../flows/history.ts';
import { describeEvent } from '../browser/describeAccount.ts';
import { sessionOf } from '../browser/forms.ts';
import { languageOf } from '../browser/language.ts';
import { ownPage, seeOther } from '../browser/steps.ts';
import { showPage } from '../browser/views.ts';
import { queryParameters } from '../parameters.ts';

/** What the user did, and what happened to the account. */
export function historyRoutes(app: FastifyInstance, context: Context): void {
  app.get('/account/history', async (request, reply) => {
    const session = await sessionOf(request, context);
    if (session === null) return seeOther(reply, context, '/account');
    const from = queryParameters(request).get('from');
    const { events, older } = await findHistoryPage(context, session, from);
    return showPage(reply, {
      name: 'history',
      ...ownPage(context, session),
      events: events.map((event) => describeEvent(context, event, languageOf(request))),
      isLater: from !== undefined,
      older: older && `/account/history?from=${older}`,
    });
  });
}
