import type { FastifyReply, FastifyRequest } from 'fastify';
import { createStopToken } from '../../../flows/account/disconnect.ts';
import { sessionOf } from '../../browser/forms.ts';
import { noteOn } from '../../browser/outcomes.ts';
import type { Page } from '../page.ts';
import { showPage } from '../views.ts';
import { type AccountPageHead, accountPageHead, type Banner, redirectToSignIn } from './accountPages.ts';

interface Fields extends AccountPageHead, Pick<Banner, 'undone'> {
  readonly formToken: string;
}

export const STOP_PAGE: Page<Fields> = { name: 'stop' };

export const STOP_PATH = '/oauth/account/stop';

/** Asks before every application is disconnected. */
export async function showStopEverything(
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const session = await sessionOf(request);
  if (session === null) return redirectToSignIn(reply);
  const undone = noteOn(reply, STOP_PATH, session.user);
  const formToken = createStopToken(request.server.context, session);
  return showPage(reply, STOP_PAGE, { ...accountPageHead(session, reply), formToken, undone });
}
