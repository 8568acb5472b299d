import type { FastifyReply } from 'fastify';
import type { AuthorizationRequest } from '../../rules/authorizationRequest.ts';
import type { NoticePage } from './pages.ts';
import { showPage } from './views.ts';

const TO_ACCOUNT = { href: '/account', text: 'See your connected applications' };

/** Says that one connection has to go before there can be another one. */
export function showFull(reply: FastifyReply, { client }: AuthorizationRequest): FastifyReply {
  reply.request.logFields = {
    error: 'too_many_instances',
    rule: 'as many live authorizations of this user and application as MAX_INSTANCES allows',
  };
  const title = 'Too many connections of one application';
  const text = `${client.name} has as many connections to your account as one application may have. Disconnect one that you no longer need. Then go back to the application and start again.`;
  return showPage(reply, { name: 'notice', title, text, link: TO_ACCOUNT }, 409);
}

/** In seconds; then there is room for a few more decisions. */
const A_MINUTE = 60;

/** Says that nothing was decided because the user has decided too much just now. */
export function showTooMany(reply: FastifyReply, link: NoticePage['link']): FastifyReply {
  reply.request.logFields = {
    error: 'too_many_decisions',
    rule: 'more decisions of one user than anybody reads in that time',
  };
  reply.header('retry-after', A_MINUTE);
  const title = 'Wait a minute';
  const text =
    'You have decided very much in a short time, so this was not done: nothing was allowed, rejected or disconnected. Wait a minute and try again.';
  return showPage(reply, { name: 'notice', title, text, link }, 429);
}

/** Says that Allow on this very page was taken before, and what that means for the button pressed now. */
export function showAlreadyAllowed(reply: FastifyReply, pressed: 'allow' | 'reject'): FastifyReply {
  const title = 'You already allowed this';
  const text = ALREADY_ALLOWED[pressed];
  return showPage(reply, { name: 'notice', title, text, link: TO_ACCOUNT });
}

const ALREADY_ALLOWED = {
  allow:
    'The application got its answer from this page before. If it does not work there, go back to the application and start again.',
  reject:
    'You pressed Allow on this page before, so rejecting it now would change nothing. To take the authorization back, disconnect the application.',
};
