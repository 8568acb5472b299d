import type { FastifyInstance } from 'fastify';
import { findHistoryPage } from '../../../flows/account/history.ts';
import type { Context } from '../../../flows/common/context.ts';
import { sessionOf } from '../../browser/forms.ts';
import { wordsFor } from '../../describe/describe.ts';
import { describeEvent } from '../../describe/describeAccount.ts';
import { ownPage, seeOther } from '../../pages/steps.ts';
import { showPage } from '../../pages/views.ts';
import { queryParameters } from '../../request/parameters.ts';

export function historyRoutes(app: FastifyInstance, context: Context): void {
  app.get('/account/history', async (request, reply) => {
    const session = await sessionOf(request);
    if (session === null) return seeOther(reply, '/account');
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
  });
}
