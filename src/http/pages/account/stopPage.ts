import type { FastifyReply, FastifyRequest } from 'fastify';
import { stopToken } from '../../../flows/account/disconnect.ts';
import { sessionOf } from '../../browser/forms.ts';
import { noteOn } from '../../browser/outcomes.ts';
import type { Page } from '../page.ts';
import { showPage } from '../views.ts';
import { type Banner, type OwnPage, ownPage, toSignIn } from './ownPage.ts';

interface Fields extends OwnPage, Pick<Banner, 'undone'> {
  readonly formToken: string;
}

export const STOP_PAGE: Page<Fields> = { name: 'stop' };

export const STOP_PATH = '/oauth/account/stop';

/** Asks before every application is disconnected. */
export async function showStop(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const session = await sessionOf(request);
  if (session === null) return toSignIn(reply);
  const undone = noteOn(reply, STOP_PATH, session.user);
  const formToken = stopToken(request.server.context, session);
  return showPage(reply, STOP_PAGE, { ...ownPage(session, reply), formToken, undone });
}
