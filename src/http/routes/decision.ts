import type { FastifyInstance, FastifyReply } from 'fastify';
import { authorize, nextStep } from '../../flows/authorize.ts';
import { confirmPayment } from '../../flows/confirmPayment.ts';
import type { Context } from '../../flows/context.ts';
import { type DecisionOutcome, decide, limitsToLower } from '../../flows/decide.ts';
import { rememberSession } from '../../flows/warnings.ts';
import type { AuthorizationRequest } from '../../rules/authorizationRequest.ts';
import { readCookies, setCookie } from '../browser/cookies.ts';
import { limitField, OWN_FORM, receiveRequestForm, typedSums } from '../browser/forms.ts';
import { chooseLanguage } from '../browser/language.ts';
import { refuseAttempt, showAlreadyAllowed, showFull, showTooMany } from '../browser/notices.ts';
import { forgetOutcome, type Outcome, rememberOutcome, requestNote } from '../browser/outcomes.ts';
import { backToRequest, requestPath, seeOther, showConsent, showReject, showStep } from '../browser/steps.ts';
import { queryParameters } from '../parameters.ts';
import { callerOf } from '../server/caller.ts';

/**
 * The payment password and the decision (contract 1.2): the two forms between sign-in and the answer. A form that doesn't
 * fit changes nothing: the request is shown afresh, to whoever is signed in now.
 */
export function decisionRoutes(app: FastifyInstance, context: Context): void {
  app.post('/payment-password', OWN_FORM, async (request, reply) => {
    const { form, authorizationRequest, session } = await receiveRequestForm(request, context);
    if (session === null) return backUnanswered(reply, context, authorizationRequest, 'not_confirmed');
    const pending = { authorizationRequest, session };
    const sent = {
      formToken: form.get('form_token'),
      paymentPassword: form.get('payment_password') ?? '',
      deviceCookie: readCookies(request, context).paymentDevice,
    };
    const result = await confirmPayment(context, pending, sent, callerOf(request));
    if (result.outcome === 'wrong' || result.outcome === 'wait') {
      const step = await nextStep(context, pending);
      // Where it was confirmed in another tab meanwhile there is nothing to type any more.
      if (step.step === 'payment-password') {
        return showStep(reply, context, step, refuseAttempt(reply, context, result, 'paymentPassword'));
      }
    }
    if (result.outcome === 'stale') {
      return backUnanswered(reply, context, authorizationRequest, 'not_confirmed');
    }
    if (result.outcome === 'confirmed') {
      setCookie(reply, context, 'paymentDevice', result.deviceCookie);
      setCookie(reply, context, 'seen', rememberSession(session, readCookies(request, context).seen));
      forgetOutcome(reply, context);
    }
    return backToRequest(reply, context, authorizationRequest);
  });

  // Reject on the page that asks for the payment password. That page can't send the browser to the application out of a form
  // (its policy), so this leads to a page that can. Neither writes anything.
  app.post('/reject', OWN_FORM, async (request, reply) => {
    const { authorizationRequest } = await receiveRequestForm(request, context);
    forgetOutcome(reply, context);
    return seeOther(reply, context, `/reject?${authorizationRequest.canonicalQuery}`);
  });

  app.get('/reject', async (request, reply) => {
    const step = await authorize(context, queryParameters(request), readCookies(request, context));
    // Whoever went Back from the application is told so on the page of the request, where they can answer anew.
    const isAsked = step.step === 'payment-password' && requestNote(request, context, step) === null;
    return isAsked
      ? showReject(reply, context, step)
      : backToRequest(reply, context, step.authorizationRequest);
  });

  app.post('/consent', OWN_FORM, async (request, reply) => {
    const { form, authorizationRequest, session } = await receiveRequestForm(request, context);
    chooseLanguage(request, reply, context, form);
    const choice = form.get('decision');
    if (session === null || (choice !== 'allow' && choice !== 'reject')) {
      return backUnanswered(reply, context, authorizationRequest, 'not_decided');
    }
    const pending = { authorizationRequest, session };
    const indexes = limitsToLower(authorizationRequest).map(({ index }) => index);
    request.limitFields = indexes.map(limitField);
    const sums = typedSums(form, indexes);
    const sent = { choice, decisionToken: form.get('decision_token'), typedSums: sums } as const;
    const result = await decide(context, pending, sent, callerOf(request));
    if (result.outcome === 'wrong_limits') {
      const step = await nextStep(context, pending);
      // Where the payment password is asked again meanwhile, all begins afresh.
      if (step.step !== 'consent') return backToRequest(reply, context, authorizationRequest);
      const rule = `sums that can't be granted: ${[...result.problems.values()].join(', ')}`;
      request.logFields = { error: 'wrong_limits', rule };
      return showConsent(reply.code(422), context, step, { sums, problems: result.problems });
    }
    if (result.outcome === 'answered') {
      // Whoever goes Back from the application sees this request again.
      const outcome = choice === 'allow' ? 'allowed' : 'rejected';
      rememberOutcome(reply, context, outcome, authorizationRequest);
    }
    return answerDecision(reply, context, authorizationRequest, result);
  });
}

function answerDecision(
  reply: FastifyReply,
  context: Context,
  authorizationRequest: AuthorizationRequest,
  result: Exclude<DecisionOutcome, { outcome: 'wrong_limits' }>,
): FastifyReply {
  switch (result.outcome) {
    case 'answered':
      return backToApplication(reply, result.location);
    case 'stale':
      return backUnanswered(reply, context, authorizationRequest, 'not_decided');
    case 'full':
      return showFull(reply, requestPath(authorizationRequest), authorizationRequest);
    case 'too_many':
      return showTooMany(reply, requestPath(authorizationRequest), 'request');
    default:
      return showAlreadyAllowed(reply, authorizationRequest, result.outcome);
  }
}

/** Shows the request afresh, with a word on why. */
function backUnanswered(
  reply: FastifyReply,
  context: Context,
  authorizationRequest: AuthorizationRequest,
  outcome: Outcome,
): FastifyReply {
  rememberOutcome(reply, context, outcome, authorizationRequest);
  return backToRequest(reply, context, authorizationRequest);
}

/** The answer of contract 4.1: a 302, whose `Location` must reach the application alone. */
function backToApplication(reply: FastifyReply, location: string): FastifyReply {
  return reply
    .header('cache-control', 'no-store')
    .header('referrer-policy', 'no-referrer')
    .redirect(location, 302);
}
