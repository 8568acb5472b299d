import type { FastifyInstance, FastifyReply } from 'fastify';
import type { FailedAttempt } from '../../flows/signIn/passwordAttempts.ts';
import type { Texts } from '../../languages/languages.ts';
import type { RuleId } from '../../rules/common/remedies.ts';
import type { AuthorizationRequest } from '../../rules/request/authorizationRequest.ts';
import { pageAddress, requestPath, textsOf } from '../browser/language.ts';
import { describeWait } from '../describe/describe.ts';
import type { Link } from '../describe/links.ts';
import { accountLink, refusalOf } from './deadEnds.ts';
import type { Page } from './pages.ts';
import { showPage } from './views.ts';

const WRONG = {
  signIn: 'The login or the password is wrong.',
  paymentPassword: 'The payment password is wrong.',
  oldPassword: 'The old password is wrong.',
  oldPaymentPassword: 'The old payment password is wrong.',
};

/** Logs a refusal that has its own name: the `error` is the rule's id. */
export function logRefused({ request }: FastifyReply, error: RuleId, rule: string): void {
  request.logFields = { error, rule, rule_id: error };
}

/** Sets status and log fields of a password form shown again. @returns the sentence on the form */
export function refuseAttempt(reply: FastifyReply, failed: FailedAttempt, form: keyof typeof WRONG): string {
  const texts = textsOf(reply.request);
  if (failed.outcome === 'wrong') {
    const { unreadableOf } = failed;
    const rule = unreadableOf ? `the password hash of user ${unreadableOf} can't be read` : WRONG[form];
    logRefused(reply.code(422), 'wrong_password', rule);
    return wrongIn(texts)[form];
  }
  const { waitSeconds } = failed;
  logRefused(reply, 'too_many_tries', `a wait of ${waitSeconds} s is not over`);
  reply.code(429).header('retry-after', waitSeconds);
  return texts.tooManyTries(describeWait(waitSeconds, texts));
}

function wrongIn({ signIn, paymentPassword, security: { form } }: Texts): Record<keyof typeof WRONG, string> {
  return {
    signIn: signIn.wrong,
    paymentPassword: paymentPassword.wrong,
    oldPassword: form.wrong,
    oldPaymentPassword: form.wrongPayment,
  };
}

/** Refuses requests for a frame, an embed or a script by Fetch Metadata (clickjacking); programs send no such header. */
export function refuseEmbedding(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const destination = request.headers['sec-fetch-dest'];
    if (destination === undefined || destination === 'document') return done();
    showEmbedded(reply);
  });
}

function showEmbedded(reply: FastifyReply): FastifyReply {
  logRefused(reply, 'embedded', 'asked for as a part of another page or by a script, not as a page');
  const { embedded, newTab } = textsOf(reply.request).notices;
  // A posted body is not read, so its address is unknown.
  const { method } = reply.request;
  const links = method === 'GET' ? [{ href: pageAddress(reply.request), text: newTab, inNewTab: true }] : [];
  return showRefusal(reply, 403, embedded, links);
}

export function showFull(reply: FastifyReply, request: AuthorizationRequest): FastifyReply {
  const rule = 'as many live authorizations of this user and application as MAX_INSTANCES allows';
  logRefused(reply, 'too_many_instances', rule);
  const { full, seeRequest } = textsOf(reply.request).notices;
  const links = [accountLink(reply.request), { href: requestPath(request), text: seeRequest }];
  return showRefusal(reply, 409, { title: full.title, text: full.text(request.client.name) }, links);
}

/** In seconds: enough for a few more decisions. */
const A_MINUTE = 60;

/** The user has decided too often just now. @param link for trying again @param text of the page: its key */
export function showTooMany(reply: FastifyReply, link: Link, text: 'text' | 'stop' = 'text'): FastifyReply {
  logRefused(reply, 'too_many_decisions', 'more decisions of one user than a person can read in that time');
  reply.header('retry-after', A_MINUTE);
  const { tooMany } = textsOf(reply.request).notices;
  return showRefusal(reply, 429, { title: tooMany.title, text: tooMany[text] }, [link]);
}

/** The user rejected, or left, at the provider. @param rejectable the request that a signed-in user can reject; null for none */
export function showNotSignedIn(
  reply: FastifyReply,
  again: string,
  rejectable: AuthorizationRequest | null,
): FastifyReply {
  const { notices, errors, consent } = textsOf(reply.request);
  const reject = rejectable && { href: rejectPath(rejectable), text: consent.reject };
  const links = [{ href: again, text: errors.tryAgain }, ...(reject ? [reject] : [])];
  return showPage(reply, { name: 'notice', ...notices.notSignedIn, links, refusal: null });
}

/** A right spends money, `PAYMENT_PASSWORD` is required, and the user has none. */
export function showNoPaymentPassword(reply: FastifyReply, request: AuthorizationRequest): FastifyReply {
  logRefused(reply, 'no_payment_password', 'a right spends money, and the user has no payment password');
  const { notices, security, consent } = textsOf(reply.request);
  const { title, text } = notices.noPaymentPassword;
  const set = { href: '/account/payment-password', text: security.setPaymentPassword, inNewTab: true };
  const links = [
    ...(reply.server.context.provider === null ? [set] : []),
    { href: requestPath(request), text: notices.seeRequest },
    { href: rejectPath(request), text: consent.reject },
  ];
  return showRefusal(reply, 403, { title, text: text(request.client.name) }, links);
}

const rejectPath = ({ canonicalQuery }: AuthorizationRequest) => `/reject?${canonicalQuery}`;

function showRefusal(
  reply: FastifyReply,
  status: number,
  { title, text }: Pick<Page<'notice'>, 'title' | 'text'>,
  links: Page<'notice'>['links'],
): FastifyReply {
  const refusal = refusalOf(reply.request);
  return showPage(reply, { name: 'notice', title, text, links, refusal }, status);
}

/** This page was allowed before. @param outcome `spent` after pressing Allow, `allowed` after Reject */
export function showAlreadyAllowed(
  reply: FastifyReply,
  { client }: AuthorizationRequest,
  outcome: 'spent' | 'allowed',
): FastifyReply {
  const { title, [outcome]: text } = textsOf(reply.request).notices.allowed;
  const links = [accountLink(reply.request)];
  return showPage(reply, { name: 'notice', title, text: text(client.name), links, refusal: null });
}
