import type { FastifyReply } from 'fastify';
import type { Context } from '../../flows/context.ts';
import type { FailedAttempt } from '../../flows/passwordAttempts.ts';
import type { Texts } from '../../languages/languages.ts';
import type { AuthorizationRequest } from '../../rules/authorizationRequest.ts';
import { accountLink, refusalOf } from './deadEnds.ts';
import { describeWait, timeAfter } from './describe.ts';
import { pageAddress, textsOf } from './language.ts';
import type { NoticePage } from './pages.ts';
import { showPage } from './views.ts';

// The pages and sentences that say why something was not done, or that it was, and what the log says of it.

const WRONG = {
  signIn: 'The login or the password is wrong.',
  paymentPassword: 'The payment password is wrong.',
  oldPassword: 'The old password is wrong.',
  oldPaymentPassword: 'The old payment password is wrong.',
};

/**
 * Sets the status of a password form that is shown again, and says why in the log.
 *
 * @returns the sentence on the form
 */
export function refuseAttempt(
  reply: FastifyReply,
  { timeZone }: Pick<Context, 'timeZone'>,
  failed: FailedAttempt,
  form: keyof typeof WRONG,
): string {
  const texts = textsOf(reply.request);
  if (failed.outcome === 'wrong') {
    reply.code(422).request.logFields = { error: 'wrong_password', rule: WRONG[form] };
    return wrongIn(texts)[form];
  }
  const { waitSeconds } = failed;
  reply.request.logFields = { error: 'too_many_tries', rule: `a wait of ${waitSeconds} s is not over` };
  reply.code(429).header('retry-after', waitSeconds);
  return texts.tooManyTries(describeWait(waitSeconds, texts), timeAfter(waitSeconds, texts, timeZone));
}

function wrongIn({ signIn, paymentPassword, security: { form } }: Texts): Record<keyof typeof WRONG, string> {
  return {
    signIn: signIn.wrong,
    paymentPassword: paymentPassword.wrong,
    oldPassword: form.wrong,
    oldPaymentPassword: form.wrongPayment,
  };
}

/** Says that a page opens as a page of its own only. */
export function showEmbedded(reply: FastifyReply): FastifyReply {
  const rule = 'asked for as a part of another page or by a script, not as a page';
  reply.request.logFields = { error: 'embedded', rule };
  const { embedded, newTab } = textsOf(reply.request).notices;
  // What was posted is not read, so there is no address to lead to.
  const { method } = reply.request;
  const links = method === 'GET' ? [{ href: pageAddress(reply.request), text: newTab, inNewTab: true }] : [];
  return showRefusal(reply, 403, embedded, links);
}

/** Says that one connection has to go before there can be another one. @param href of the request */
export function showFull(reply: FastifyReply, href: string, { client }: AuthorizationRequest): FastifyReply {
  const rule = 'as many live authorizations of this user and application as MAX_INSTANCES allows';
  reply.request.logFields = { error: 'too_many_instances', rule };
  const { full, seeRequest } = textsOf(reply.request).notices;
  const links = [accountLink(reply.request), { href, text: seeRequest }];
  return showRefusal(reply, 409, { title: full.title, text: full.text(client.name) }, links);
}

/** In seconds; then there is room for a few more decisions. */
const A_MINUTE = 60;

/** Says that nothing was decided because the user has decided too much just now. @param href where to try again */
export function showTooMany(
  reply: FastifyReply,
  href: string,
  page: 'account' | 'stop' | 'request',
): FastifyReply {
  const rule = 'more decisions of one user than anybody reads in that time';
  reply.request.logFields = { error: 'too_many_decisions', rule };
  reply.header('retry-after', A_MINUTE);
  const { account, notices } = textsOf(reply.request);
  const link = { href, text: page === 'request' ? notices.seeRequest : account.see };
  const { title, text, stop } = notices.tooMany;
  return showRefusal(reply, 429, { title, text: page === 'stop' ? stop : text }, [link]);
}

function showRefusal(
  reply: FastifyReply,
  status: number,
  { title, text }: Pick<NoticePage, 'title' | 'text'>,
  links: NoticePage['links'],
): FastifyReply {
  const refusal = refusalOf(reply.request, status);
  return showPage(reply, { name: 'notice', title, text, links, refusal }, status);
}

/**
 * Says that Allow on this very page was taken before, and what that means for the button pressed now.
 *
 * @param outcome `spent` after pressing Allow, `allowed` after pressing Reject
 */
export function showAlreadyAllowed(
  reply: FastifyReply,
  { client }: AuthorizationRequest,
  outcome: 'spent' | 'allowed',
): FastifyReply {
  const { title, [outcome]: text } = textsOf(reply.request).notices.allowed;
  const links = [accountLink(reply.request)];
  return showPage(reply, { name: 'notice', title, text: text(client.name), links, refusal: null });
}
