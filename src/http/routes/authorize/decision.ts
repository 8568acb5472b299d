import type { FastifyInstance, FastifyReply } from 'fastify';
import { authorize, nextStep } from '../../../flows/authorize/authorize.ts';
import { confirmPayment } from '../../../flows/authorize/confirmPayment.ts';
import { decide, limitsToLower } from '../../../flows/authorize/decide.ts';
import type { Context } from '../../../flows/common/context.ts';
import { rememberSession } from '../../../flows/signIn/seenWarnings.ts';
import type { AuthorizationRequest } from '../../../rules/request/authorizationRequest.ts';
import { readCookies, setCookie } from '../../browser/cookies.ts';
import { limitField, OWN_FORM, receiveRequestForm, typedSums } from '../../browser/forms.ts';
import { chooseLanguage, textsOf } from '../../browser/language.ts';
import { forgetOutcome, type Outcome, rememberOutcome, requestNote } from '../../browser/outcomes.ts';
import {
  logRefused,
  refuseAttempt,
  showAlreadyAllowed,
  showFull,
  showTooMany,
  toRequest,
} from '../../pages/notices.ts';
import { backToRequest, seeOther, showConsent, showReject, showStep } from '../../pages/steps.ts';
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
    const result = await confirmPayment(context, pending, sent, callerOf(request));
    if (result.outcome === 'wrong' || result.outcome === 'wait') {
      const step = await nextStep(context, pending);
      // After a confirmation in another tab no password is needed any more.
      if (step.step === 'payment-password') {
        return showStep(reply, step, refuseAttempt(reply, result, 'paymentPassword'));
      }
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
    const isAsked = step.step === 'payment-password' && requestNote(request, step) === null;
    return isAsked ? showReject(reply, step) : backToRequest(reply, step.authorizationRequest);
  });

  app.post('/consent', OWN_FORM, async (request, reply) => {
    const { form, authorizationRequest, session } = await receiveRequestForm(request);
    await chooseLanguage(reply, form);
    const choice = form.get('decision');
    if (session === null || (choice !== 'allow' && choice !== 'reject')) {
      return backUnanswered(reply, authorizationRequest, 'not_decided');
    }
    const pending = { authorizationRequest, session };
    const indexes = limitsToLower(authorizationRequest).map(({ index }) => index);
    request.limitFields = indexes.map(limitField);
    const sums = typedSums(form, indexes);
    const sent = { choice, decisionToken: form.get('decision_token'), typedSums: sums } as const;
    const result = await decide(context, pending, sent, callerOf(request));
    switch (result.outcome) {
      case 'answered':
        // For Back from the application.
        rememberOutcome(reply, choice === 'allow' ? 'allowed' : 'rejected', authorizationRequest);
        return backToApplication(reply, result.location);
      case 'wrong_limits': {
        const step = await nextStep(context, pending);
        // If the payment password is required again meanwhile, the request starts over.
        if (step.step !== 'consent') return backToRequest(reply, authorizationRequest);
        const rule = `sums that can't be granted: ${[...result.problems.values()].join(', ')}`;
        logRefused(reply, 'wrong_limits', rule);
        return showConsent(reply.code(422), step, { sums, problems: result.problems });
      }
      case 'stale':
        return backUnanswered(reply, authorizationRequest, 'not_decided');
      case 'full':
        return showFull(reply, authorizationRequest);
      case 'too_many':
        return showTooMany(reply, toRequest(authorizationRequest, textsOf(request)));
      default:
        return showAlreadyAllowed(reply, authorizationRequest, result.outcome);
    }
  });
}

function backUnanswered(
  reply: FastifyReply,
  authorizationRequest: AuthorizationRequest,
  outcome: Outcome,
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
