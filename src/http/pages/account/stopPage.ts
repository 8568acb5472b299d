import type { FastifyReply, FastifyRequest } from 'fastify';
import { createStopToken } from '../../../flows/account/disconnect.ts';
import { findUserSessions } from '../../../flows/account/userSessions.ts';
import { sessionOf } from '../../browser/forms.ts';
import { noteOn } from '../../browser/outcomes.ts';
import type { Page } from '../page.ts';
import { showPage } from '../views.ts';
import { type AccountPageHead, accountPageHead, type Banner, redirectToSignIn } from './accountPages.ts';

interface Fields extends AccountPageHead, Pick<Banner, 'undone'> {
  readonly formToken: string;
  /** To sign out every other browser and to change the password. */
  readonly offersLess: boolean;
  /** Null if the user is signed in only here. */
  readonly endOthersToken: string | null;
  readonly changesPassword: boolean;
}

export const STOP_PAGE: Page<Fields> = { name: 'stop' };

export const STOP_PATH = '/oauth/account/stop';
/** Behind “No, secure my account”. */
export const SECURE_PATH = '/oauth/account/secure';

/** Asks before every application is disconnected. */
export async function showStopEverything(
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const session = await sessionOf(request);
  if (session === null) return redirectToSignIn(reply);
  const { context } = request.server;
  const { endOthersToken } = await findUserSessions(context, session);
  return showPage(reply, STOP_PAGE, {
    ...accountPageHead(session, reply),
    formToken: createStopToken(context, session),
    offersLess: request.routeOptions.url === SECURE_PATH,
    endOthersToken,
    changesPassword: context.provider === null,
    undone: noteOn(reply, STOP_PATH, session.user),
  });
}
