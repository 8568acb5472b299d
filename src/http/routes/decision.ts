import type { FastifyInstance, FastifyReply } from 'fastify';
import { nextStep } from '../../flows/authorize.ts';
import { confirmPayment } from '../../flows/confirmPayment.ts';
import type { Context } from '../../flows/context.ts';
import { decide } from '../../flows/decide.ts';
import { readCookies, setCookie } from '../browser/cookies.ts';
import { OWN_FORM, receiveRequestForm } from '../browser/forms.ts';
import { refuseAttempt, showAlreadyAllowed, showFull, showTooMany } from '../browser/notices.ts';
import { backToRequest, requestPath, showStep } from '../browser/steps.ts';
import { callerOf } from '../server/caller.ts';

/**
 * The payment password and the decision (contract 1.2): the two forms between sign-in and the answer. A form that doesn't
 * fit changes nothing: the request is shown afresh, to whoever is signed in now.
 */
export async function decisionRoutes(app: FastifyInstance, context: Context): Promise<void> {
  app.post('/payment-password', OWN_FORM, async (request, reply) => {
    const { form, authorizationRequest, session } = await receiveRequestForm(request, context);
    if (session === null) return backToRequest(reply, context, authorizationRequest);
    const pending = { authorizationRequest, session };
    const sent = {
      formToken: form.get('form_token'),
      paymentPassword: form.get('payment_password') ?? '',
      deviceCookie: readCookies(request, context).paymentDevice,
    };
    const result = await confirmPayment(context, pending, sent, callerOf(request));
    if (result.outcome === 'confirmed') setCookie(reply, context, 'paymentDevice', result.deviceCookie);
    if (result.outcome === 'confirmed' || result.outcome === 'stale') {
      return backToRequest(reply, context, authorizationRequest);
    }
    const step = await nextStep(context, pending);
    // Confirmed in another tab meanwhile: there is nothing to type any more.
    if (step.step !== 'payment-password') return backToRequest(reply, context, authorizationRequest);
    return showStep(reply, context, step, refuseAttempt(reply, result, 'payment-password'));
  });

  app.post('/consent', OWN_FORM, async (request, reply) => {
    const { form, authorizationRequest, session } = await receiveRequestForm(request, context);
    const choice = form.get('decision');
    if (session === null || (choice !== 'allow' && choice !== 'reject')) {
      return backToRequest(reply, context, authorizationRequest);
    }
    const sent = { choice, decisionToken: form.get('decision_token') } as const;
    const result = await decide(context, { authorizationRequest, session }, sent, callerOf(request));
    switch (result.outcome) {
      case 'answered':
        return backToApplication(reply, result.location);
      case 'stale':
        return backToRequest(reply, context, authorizationRequest);
      case 'full':
        return showFull(reply, authorizationRequest);
      case 'too_many':
        return showTooMany(reply, requestPath(authorizationRequest), 'request');
      case 'spent':
        return showAlreadyAllowed(reply, 'allow');
      case 'allowed':
        return showAlreadyAllowed(reply, 'reject');
    }
  });
}

/** The answer of contract 4.1: a 302, whose `Location` must reach the application alone. */
function backToApplication(reply: FastifyReply, location: string): FastifyReply {
  return reply
    .header('cache-control', 'no-store')
    .header('referrer-policy', 'no-referrer')
    .redirect(location, 302);
}
