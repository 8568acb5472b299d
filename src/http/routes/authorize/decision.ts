import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { loadPending } from '../../../flows/authorize/authorize.ts';
import { confirmPayment, confirmStep, takesPassword } from '../../../flows/authorize/confirmPayment.ts';
import { type DecisionOutcome, decide, findReceipt } from '../../../flows/authorize/decide.ts';
import { type Choice, limitFields } from '../../../flows/authorize/decisionForms.ts';
import { markOwnSession } from '../../../flows/signIn/seenWarnings.ts';
import { callerOf } from '../../../listener/caller.ts';
import type { AuthorizationRequest } from '../../../rules/request/authorizationRequest.ts';
import { emit } from '../../../signals/events.ts';
import { readCookie, setCookie } from '../../browser/cookies.ts';
import { FORM_OPTIONS, limitField, receiveRequestForm } from '../../browser/forms.ts';
import {
  forgetOutcome,
  lastOutcome,
  type OutcomeMessageKey,
  rememberOutcome,
} from '../../browser/outcomes.ts';
import { decisionPath, redirectToRequest, seeOther } from '../../browser/redirects.ts';
import { showConfirm } from '../../pages/confirmPage.ts';
import { refuseAttempt, refuseDecision, refuseForm } from '../../pages/formErrors.ts';
import { showTooManyInstances } from '../../pages/noticePage.ts';
import { showReceipt } from '../../pages/receiptPage.ts';
import { queryParameters } from '../../request/parameters.ts';

/** The decision, its confirmation and its receipt (contract 1.2). An invalid form only shows the request again. */
export function decisionRoutes(app: FastifyInstance): void {
  app.post('/oauth/consent', FORM_OPTIONS, receiveConsent);
  app.get('/oauth/confirm', showConfirmation);
  app.post('/oauth/confirm', FORM_OPTIONS, receiveConfirmation);
  app.get('/oauth/receipt', receiveReceipt);
  app.get('/oauth/return', receiveReceipt);
}

async function receiveConsent(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { form, authorizationRequest, pending } = await receiveRequestForm(request);
  const choice = form.get('decision');
  if (pending === null || (choice !== 'allow' && choice !== 'reject'))
    return answerDecision(reply, authorizationRequest, { outcome: 'stale' });
  // An empty field counts as typed.
  const typedAs = (name: string) => (form.hasAny([name]) ? (form.get(name) ?? '') : undefined);
  const typed = limitFields(request.server.context, authorizationRequest).map(({ index, part }) =>
    typedAs(limitField(index, part)),
  );
  const sent = { choice, decisionToken: form.get('decision_token'), typed } as const;
  const result = await decide(request.server.context, pending, sent, callerOf(request));
  if (result.outcome !== 'wrong_limits')
    return answerDecision(reply, authorizationRequest, result, sent.decisionToken);
  const problems = [...result.problems.values()].flatMap((each) => Object.values(each));
  const rule = `sums that can't be granted: ${problems.join(', ')}`;
  const more = { typed: typed.map((text = '') => text) };
  refuseForm(reply, ['wrong_limits', rule], 'wrong_limits', authorizationRequest, more);
  return redirectToRequest(reply, authorizationRequest);
}

async function showConfirmation(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { context } = request.server;
  const { authorizationRequest, pending, decision } = await receiveDecision(request);
  const step = pending && (await confirmStep(context, pending, decision));
  if (step === null) {
    const earlier = pending && (await findReceipt(context, pending, decision));
    return backUnanswered(reply, authorizationRequest, earlier ? 'spent' : 'not_decided');
  }
  if (!step.mayHold) return showTooManyInstances(reply, authorizationRequest);
  if (step.user.hasPaymentPassword || !takesPassword(context)) return showConfirm(reply, step);
  rememberOutcome(reply, 'needsPassword', authorizationRequest, { form: '/oauth/consent' });
  return redirectToRequest(reply, authorizationRequest);
}

async function receiveConfirmation(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { form, authorizationRequest, pending } = await receiveRequestForm(request);
  if (pending === null) return answerDecision(reply, authorizationRequest, { outcome: 'stale' });
  const decision = form.get('decision');
  const deviceCookie = readCookie(request, 'paymentDevice');
  const sent = { decision, password: form.get('payment_password') ?? '', deviceCookie };
  const attempt = confirmPayment(request.server.context, pending, sent, callerOf(request));
  attempt.catch(() => emit('paymentConfirmation', 'unavailable'));
  const result = await attempt;
  if (result.outcome === 'wrong' || result.outcome === 'wait') {
    refuseAttempt(reply, result, 'paymentPassword', authorizationRequest);
    return seeOther(reply, decisionPath('/oauth/confirm', authorizationRequest, decision ?? ''));
  }
  if (result.deviceCookie !== undefined) {
    setCookie(reply, 'paymentDevice', result.deviceCookie);
    setCookie(reply, 'seen', markOwnSession(pending.session, readCookie(request, 'seen')));
  }
  return answerDecision(reply, authorizationRequest, result);
}

/** The receipt of a decision, and from there the return to the application. */
async function receiveReceipt(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { authorizationRequest, pending, decision = '' } = await receiveDecision(request);
  const receipt = pending && (await findReceipt(request.server.context, pending, decision));
  if (receipt === null) return backUnanswered(reply, authorizationRequest, 'not_decided');
  const { choice, location, isLive } = receipt;
  const isReturn = request.routeOptions.url === '/oauth/return';
  if (!isReturn && isLive) return showReceipt(reply, authorizationRequest, receipt, decision);
  if (isReturn && location !== null)
    return backToApplication(reply, authorizationRequest, { choice, location }, decision);
  return backUnanswered(reply, authorizationRequest, 'spent');
}

/** A page about a signed decision. @throws {OAuthError} if its request is no longer valid */
async function receiveDecision(request: FastifyRequest) {
  const query = queryParameters(request);
  const cookie = readCookie(request, 'session');
  const loaded = await loadPending(request.server.context, query, cookie);
  return { ...loaded, decision: query.find('decision') };
}

/** What the request's page says of an answer without effect. That of one that is full needs no more. */
const UNANSWERED = {
  stale: 'not_decided',
  full: 'not_decided',
  spent: 'spent',
  allowed: 'not_rejected',
} as const;

const LOGGED = { allow: 'approved', reject: 'rejected' } as const;

/** Leads on: to the application, to the confirmation or the receipt, or back to the request. @param token of the page */
export function answerDecision(
  reply: FastifyReply,
  request: AuthorizationRequest,
  result: DecisionOutcome,
  token = '',
) {
  const outcome = 'choice' in result ? LOGGED[result.choice] : result.outcome;
  reply.request.logOutcome = { client_id: request.client.clientId, outcome };
  switch (result.outcome) {
    case 'answered':
      return backToApplication(reply, request, result, token);
    case 'confirm':
      // Allow pressed again after it was confirmed: the request has to say so.
      if (lastOutcome(reply, request)?.outcome !== 'allowed') forgetOutcome(reply);
      return seeOther(reply, decisionPath('/oauth/confirm', request, result.decision));
    case 'receipt':
      forgetOutcome(reply);
      return seeOther(reply, decisionPath('/oauth/receipt', request, result.decision));
    case 'too_many':
      refuseDecision(reply, request);
      break;
    default:
      rememberOutcome(reply, UNANSWERED[result.outcome], request);
  }
  return redirectToRequest(reply, request);
}

/** A page of a decision that is over. After Back from the application the request already says what came of it. */
function backUnanswered(
  reply: FastifyReply,
  request: AuthorizationRequest,
  note: OutcomeMessageKey,
): FastifyReply {
  if (lastOutcome(reply, request) === null) rememberOutcome(reply, note, request);
  return redirectToRequest(reply, request);
}

/** Contract 4.1: a 302, whose `Location` must reach only the application. */
function backToApplication(
  reply: FastifyReply,
  request: AuthorizationRequest,
  { choice, location }: { readonly choice: Choice; readonly location: string },
  token: string,
): FastifyReply {
  // For Back from the application, and after Allow from there to it again.
  if (choice === 'allow') rememberOutcome(reply, 'allowed', request, { typed: [token] });
  else rememberOutcome(reply, 'rejected', request);
  const headers = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };
  return reply.headers(headers).redirect(location, 302);
}
