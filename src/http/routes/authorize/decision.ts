import type { FastifyInstance, FastifyReply } from 'fastify';
import { authorize } from '../../../flows/authorize/authorize.ts';
import { confirmPayment } from '../../../flows/authorize/confirmPayment.ts';
import { decide, limitsToLower } from '../../../flows/authorize/decide.ts';
import type { Context } from '../../../flows/common/context.ts';
import { rememberSession } from '../../../flows/signIn/seenWarnings.ts';
import type { AuthorizationRequest } from '../../../rules/request/authorizationRequest.ts';
import { tell } from '../../../signals/happenings.ts';
import { readCookies, setCookie } from '../../browser/cookies.ts';
import { OWN_FORM, receiveRequestForm, typedSums } from '../../browser/forms.ts';
import { forgetOutcome, lastOutcome, type Note, rememberOutcome } from '../../browser/outcomes.ts';
import { refuseAttempt, refuseDecision, refuseForm } from '../../pages/notices.ts';
import { backToRequest, seeOther, showReject } from '../../pages/steps.ts';
import { callerOf } from '../../request/caller.ts';
import { queryParameters } from '../../request/parameters.ts';

/** The forms of the payment password and the decision (contract 1.2). An invalid one only shows the request again. */
export function decisionRoutes(app: FastifyInstance, context: Context): void {
  app.post('/payment-password', OWN_FORM, async (request, reply) => {
    const { form, authorizationRequest, session } = await receiveRequestForm(request);
    if (session === null) return backUnanswered(reply, authorizationRequest, 'not_confirmed');
    const pending = { authorizationRequest, session };
    const sent = {
      formToken: form.get('form_token'),
      password: form.get('payment_password') ?? '',
      deviceCookie: readCookies(request).paymentDevice,
    };
    const attempt = confirmPayment(context, pending, sent, callerOf(request));
    attempt.then(
      ({ outcome }) => tell('paymentConfirmation', outcome),
      () => tell('paymentConfirmation', 'unavailable'),
    );
    const result = await attempt;
    if (result.outcome === 'wrong' || result.outcome === 'wait') {
      refuseAttempt(reply, result, 'paymentPassword', authorizationRequest);
    }
    if (result.outcome === 'stale') {
      return backUnanswered(reply, authorizationRequest, 'not_confirmed');
    }
    if (result.outcome === 'confirmed') {
      setCookie(reply, 'paymentDevice', result.deviceCookie);
      setCookie(reply, 'seen', rememberSession(session, readCookies(request).seen));
      forgetOutcome(reply);
    }
    return backToRequest(reply, authorizationRequest);
  });

  // Reject on the payment password page. Its policy lets no form end at the application, so this leads to a page that
  // can. Neither writes anything.
  app.post('/reject', OWN_FORM, async (request, reply) => {
    const { authorizationRequest } = await receiveRequestForm(request);
    forgetOutcome(reply);
    return seeOther(reply, `/reject?${authorizationRequest.canonicalQuery}`);
  });

  app.get('/reject', async (request, reply) => {
    const step = await authorize(context, queryParameters(request), readCookies(request));
    // After Back from the application the request's page says so, and can be answered again.
    const isNoted = lastOutcome(reply, step.authorizationRequest) !== null;
    if (step.step === 'payment-password' && !isNoted) return showReject(reply, step);
    return backToRequest(reply, step.authorizationRequest);
  });

  app.post('/consent', OWN_FORM, async (request, reply) => {
    const { form, authorizationRequest, session } = await receiveRequestForm(request);
    const choice = form.get('decision');
    if (session === null || (choice !== 'allow' && choice !== 'reject')) {
      return backUnanswered(reply, authorizationRequest, 'not_decided');
    }
    const pending = { authorizationRequest, session };
    const indexes = limitsToLower(authorizationRequest).map(({ index }) => index);
    const sums = typedSums(form, indexes);
    const sent = { choice, decisionToken: form.get('decision_token'), typedSums: sums } as const;
    const result = await decide(context, pending, sent, callerOf(request));
    switch (result.outcome) {
      case 'answered':
        // For Back from the application.
        rememberOutcome(reply, choice === 'allow' ? 'allowed' : 'rejected', authorizationRequest);
        return backToApplication(reply, result.location);
      case 'wrong_limits': {
        const rule = `sums that can't be granted: ${[...result.problems.values()].join(', ')}`;
        const typed = [...sums.values()];
        refuseForm(reply, ['wrong_limits', rule], 'wrong_limits', authorizationRequest, { typed });
        break;
      }
      case 'too_many':
        refuseDecision(reply, authorizationRequest);
        break;
      default:
        rememberOutcome(reply, UNANSWERED[result.outcome], authorizationRequest);
    }
    return backToRequest(reply, authorizationRequest);
  });
}

/** What the request's page says of an answer without effect. That of one that is full needs no more. */
const UNANSWERED = {
  stale: 'not_decided',
  full: 'not_decided',
  spent: 'spent',
  allowed: 'not_rejected',
} as const;

function backUnanswered(
  reply: FastifyReply,
  authorizationRequest: AuthorizationRequest,
  outcome: Note,
): FastifyReply {
  rememberOutcome(reply, outcome, authorizationRequest);
  return backToRequest(reply, authorizationRequest);
}

/** Contract 4.1: a 302, whose `Location` must reach only the application. */
function backToApplication(reply: FastifyReply, location: string): FastifyReply {
  return reply
    .header('cache-control', 'no-store')
    .header('referrer-policy', 'no-referrer')
    .redirect(location, 302);
}
