import type { FastifyReply } from 'fastify';
import type { FailedAttempt } from '../../flows/passwordAttempts.ts';
import type { AuthorizationRequest } from '../../rules/authorizationRequest.ts';
import { describeWait } from './describe.ts';
import { showPage } from './views.ts';

// The sentences that say why something was not done, or that it was. What stands on a page in any case is in `views/`.

const WRONG = {
  'sign-in': 'The login or the password is wrong.',
  'payment-password': 'The payment password is wrong.',
};

/**
 * Sets the status of a password form that is shown again, and says why in the log.
 *
 * @returns the sentence on the form
 */
export function refuseAttempt(reply: FastifyReply, failed: FailedAttempt, form: keyof typeof WRONG): string {
  if (failed.outcome === 'wrong') {
    reply.code(422).request.logFields = { error: 'wrong_password', rule: WRONG[form] };
    return WRONG[form];
  }
  const { waitSeconds } = failed;
  reply.request.logFields = { error: 'too_many_tries', rule: `a wait of ${waitSeconds} s is not over` };
  reply.code(429).header('retry-after', waitSeconds);
  return `Too many tries. Wait ${describeWait(waitSeconds)} and try again.`;
}

export const DISCONNECTED = 'The application is disconnected.';
/** Why nothing was disconnected. */
export const NOT_SIGNED_IN =
  'Nothing was disconnected yet, because you were no longer signed in. Sign in and press Disconnect again.';
export const OUT_OF_DATE =
  'Nothing was disconnected yet, because the page was out of date. Press Disconnect again here.';

/** Says that a page opens as a page of its own only. */
export function showEmbedded(reply: FastifyReply): FastifyReply {
  const rule = 'asked for as a part of another page or by a script, not as a page';
  reply.request.logFields = { error: 'embedded', rule };
  const title = 'Open this in your browser';
  const text =
    'This page was asked for inside another page or by a script. So that you can see whom you give your password to, it opens only as a page of its own: go back to the application and open it in your browser.';
  return showPage(reply, { name: 'notice', title, text, link: null }, 403);
}

const TO_ACCOUNT = { href: '/account', text: 'See your connected applications' };

/** Says that one connection has to go before there can be another one. */
export function showFull(reply: FastifyReply, { client }: AuthorizationRequest): FastifyReply {
  const rule = 'as many live authorizations of this user and application as MAX_INSTANCES allows';
  reply.request.logFields = { error: 'too_many_instances', rule };
  const title = 'Too many connections of one application';
  const text = `${client.name} has as many connections to your account as one application may have. Disconnect one that you no longer need. Then go back to the application and start again.`;
  return showPage(reply, { name: 'notice', title, text, link: TO_ACCOUNT }, 409);
}

/** In seconds; then there is room for a few more decisions. */
const A_MINUTE = 60;

const BACK_TO = { account: TO_ACCOUNT.text, request: 'See the request again' };

/** Says that nothing was decided because the user has decided too much just now. */
export function showTooMany(reply: FastifyReply, href: string, page: keyof typeof BACK_TO): FastifyReply {
  const rule = 'more decisions of one user than anybody reads in that time';
  reply.request.logFields = { error: 'too_many_decisions', rule };
  reply.header('retry-after', A_MINUTE);
  const title = 'Wait a minute';
  const text =
    'You have decided very much in a short time, so this was not done: nothing was allowed, rejected or disconnected. Wait a minute and try again.';
  return showPage(reply, { name: 'notice', title, text, link: { href, text: BACK_TO[page] } }, 429);
}

/** Says that Allow on this very page was taken before, and what that means for the button pressed now. */
export function showAlreadyAllowed(reply: FastifyReply, outcome: keyof typeof ALREADY_ALLOWED): FastifyReply {
  const title = 'You already allowed this';
  return showPage(reply, { name: 'notice', title, text: ALREADY_ALLOWED[outcome], link: TO_ACCOUNT });
}

/** By what comes of the decision: `spent` after pressing Allow, `allowed` after pressing Reject. */
const ALREADY_ALLOWED = {
  spent:
    'The application got its answer from this page before. If it does not work there, go back to the application and start again.',
  allowed:
    'You pressed Allow on this page before, so rejecting it now would change nothing. To take the authorization back, disconnect the application.',
};
