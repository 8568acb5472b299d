import type { FastifyInstance, FastifyReply } from 'fastify';
import type { FailedAttempt } from '../../flows/signIn/passwordAttempts.ts';
import type { Texts } from '../../languages/languages.ts';
import type { RuleId } from '../../rules/common/remedies.ts';
import type { AuthorizationRequest } from '../../rules/request/authorizationRequest.ts';
import { onceAMinute } from '../../signals/onceAMinute.ts';
import { pageAddress, requestPath, textsOf } from '../browser/language.ts';
import { describeWait } from '../describe/describe.ts';
import { type Link, toAccount } from '../describe/links.ts';
import { refusalOf } from './deadEnds.ts';
import type { Page } from './pages.ts';
import { showPage } from './views.ts';

/** Of each password form: the rule in the log, and the text on the form. */
const WRONG = {
  signIn: ['The login or the password is wrong.', ({ signIn }) => signIn.wrong],
  paymentPassword: ['The payment password is wrong.', ({ paymentPassword }) => paymentPassword.wrong],
  oldPassword: ['The old password is wrong.', ({ security }) => security.form.wrong],
  oldPaymentPassword: ['The old payment password is wrong.', ({ security }) => security.form.wrongPayment],
} satisfies Record<string, readonly [rule: string, text: (texts: Texts) => string]>;

/** Logs a refusal that has its own name: the `error` is the rule's id. */
export function logRefused({ request }: FastifyReply, error: RuleId, rule: string): void {
  request.logFields = { error, rule, rule_id: error };
}

const warn = onceAMinute((text: string, { log }: FastifyReply, user_id: string) =>
  log.warn({ user_id }, text),
);

/** Sets status and log fields of a password form shown again. @returns the sentence on the form */
export function refuseAttempt(reply: FastifyReply, failed: FailedAttempt, form: keyof typeof WRONG): string {
  const texts = textsOf(reply.request);
  if (failed.outcome === 'wrong') {
    if (failed.unreadableOf) warn("this user's password hash can't be read", reply, failed.unreadableOf);
    const [rule, textIn] = WRONG[form];
    logRefused(reply.code(422), 'wrong_password', rule);
    return textIn(texts);
  }
  const { waitSeconds } = failed;
  logRefused(reply, 'too_many_tries', `a wait of ${waitSeconds} s is not over`);
  reply.code(429).header('retry-after', waitSeconds);
  return texts.tooManyTries(describeWait(waitSeconds, texts));
}

/** Refuses requests for a frame, an embed or a script by Fetch Metadata (clickjacking); programs send no such header. */
export function refuseEmbedding(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const destination = request.headers['sec-fetch-dest'];
    if (destination === undefined || destination === 'document') return done();
    logRefused(reply, 'embedded', 'asked for as a part of another page or by a script, not as a page');
    const { embedded, newTab } = textsOf(request).notices;
    // A posted body is not read, so its address is unknown.
    const isKnown = request.method === 'GET';
    const links = isKnown ? [{ href: pageAddress(request), text: newTab, inNewTab: true }] : [];
    showRefusal(reply, 403, { ...embedded, links });
  });
}

export function showFull(reply: FastifyReply, request: AuthorizationRequest): FastifyReply {
  const rule = 'as many live authorizations of this user and application as MAX_INSTANCES allows';
  logRefused(reply, 'too_many_instances', rule);
  const texts = textsOf(reply.request);
  const { title, text } = texts.notices.full;
  const links = [toAccount(texts), toRequest(request, texts)];
  return showRefusal(reply, 409, { title, text: text(request.client.name), links });
}

/** In seconds: enough for a few more decisions. */
const A_MINUTE = 60;

/** The user has decided too often just now. @param link for trying again @param text of the page: its key */
export function showTooMany(reply: FastifyReply, link: Link, text: 'text' | 'stop' = 'text'): FastifyReply {
  logRefused(reply, 'too_many_decisions', 'more decisions of one user than a person can read in that time');
  reply.header('retry-after', A_MINUTE);
  const { tooMany } = textsOf(reply.request).notices;
  return showRefusal(reply, 429, { title: tooMany.title, text: tooMany[text], links: [link] });
}

/** The user rejected, or left, at the provider. @param rejectable the request that a signed-in user can reject; null for none */
export function showNotSignedIn(
  reply: FastifyReply,
  again: string,
  rejectable: AuthorizationRequest | null,
): FastifyReply {
  const texts = textsOf(reply.request);
  const reject = rejectable ? [toReject(rejectable, texts)] : [];
  const links = [{ href: again, text: texts.errors.tryAgain }, ...reject];
  return showPage(reply, { name: 'notice', ...texts.notices.notSignedIn, links, refusal: null });
}

/** A right spends money, `PAYMENT_PASSWORD` is required, and the user has none. */
export function showNoPaymentPassword(reply: FastifyReply, request: AuthorizationRequest): FastifyReply {
  logRefused(reply, 'no_payment_password', 'a right spends money, and the user has no payment password');
  const texts = textsOf(reply.request);
  const { title, text } = texts.notices.noPaymentPassword;
  const set = { href: '/account/payment-password', text: texts.security.setPaymentPassword, inNewTab: true };
  const isSetHere = reply.server.context.provider === null;
  const links = [...(isSetHere ? [set] : []), toRequest(request, texts), toReject(request, texts)];
  return showRefusal(reply, 403, { title, text: text(request.client.name), links });
}

function toReject({ canonicalQuery }: AuthorizationRequest, { consent }: Texts): Link {
  return { href: `/reject?${canonicalQuery}`, text: consent.reject };
}

export function toRequest(request: AuthorizationRequest, { notices }: Texts): Link {
  return { href: requestPath(request), text: notices.seeRequest };
}

type Notice = Omit<Page<'notice'>, 'name' | 'refusal'>;

function showRefusal(reply: FastifyReply, status: number, notice: Notice): FastifyReply {
  return showPage(reply, { name: 'notice', ...notice, refusal: refusalOf(reply.request) }, status);
}

/** This page was allowed before. @param outcome `spent` after pressing Allow, `allowed` after Reject */
export function showAlreadyAllowed(
  reply: FastifyReply,
  { client }: AuthorizationRequest,
  outcome: 'spent' | 'allowed',
): FastifyReply {
  const texts = textsOf(reply.request);
  const { title, [outcome]: text } = texts.notices.allowed;
  const links = [toAccount(texts)];
  return showPage(reply, { name: 'notice', title, text: text(client.name), links, refusal: null });
}
