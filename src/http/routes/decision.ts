import type { FastifyInstance, FastifyReply } from 'fastify';
import { approve } from '../../flows/approve.ts';
import { confirmPayment } from '../../flows/confirmPayment.ts';
import type { Caller, Session } from '../../flows/context.ts';
import { deny } from '../../flows/deny.ts';
import { formTokenFits } from '../../flows/formToken.ts';
import { nextStep } from '../../flows/nextStep.ts';
import type { AuthorizationRequest } from '../../rules/authorizationRequest.ts';
import { deviceCookie, type Site, setDeviceCookie } from '../browser/cookies.ts';
import { OWN_FORM, requiredRequest, senderOf } from '../browser/forms.ts';
import type { NoticePage } from '../browser/pages.ts';
import { backToRequest, failed, requestPath, showFull, showStep, showTooMany } from '../browser/steps.ts';
import { showPage } from '../browser/views.ts';
import { callerOf } from '../server/caller.ts';
import { bodyParameters } from '../server/parameters.ts';

/** The payment password and the decision (contract 1.2): the two forms that stand between sign-in and the answer. */
export async function decisionRoutes(app: FastifyInstance, site: Site): Promise<void> {
  const { context } = site;

  app.post('/payment-password', OWN_FORM, async (request, reply) => {
    const form = bodyParameters(request);
    const [authorizationRequest, session] = await Promise.all([
      requiredRequest(site, form),
      senderOf(request, site),
    ]);
    const subject = authorizationRequest.canonicalQuery;
    if (!session || !formTokenFits(context, form.get('form_token'), 'payment-password', session, subject)) {
      return backToRequest(reply, site, authorizationRequest);
    }
    const typed = {
      paymentPassword: form.get('payment_password') ?? '',
      deviceCookie: deviceCookie(request, site, 'payment password'),
    };
    const result = await confirmPayment(context, session, authorizationRequest, typed, callerOf(request));
    if (result.outcome === 'confirmed') {
      setDeviceCookie(reply, site, 'payment password', result.deviceCookie);
      return backToRequest(reply, site, authorizationRequest);
    }
    const step = await nextStep(context, authorizationRequest, session);
    // Confirmed in another tab meanwhile: there is nothing to type any more.
    if (step.step !== 'payment-password') return backToRequest(reply, site, authorizationRequest);
    return showStep(
      reply,
      site,
      authorizationRequest,
      step,
      failed(request, result, 'The payment password is wrong.'),
    );
  });

  app.post('/consent', OWN_FORM, async (request, reply) => {
    const form = bodyParameters(request);
    const [authorizationRequest, session] = await Promise.all([
      requiredRequest(site, form),
      senderOf(request, site),
    ]);
    const decide = DECISIONS.get(form.get('decision') ?? '');
    // A form that doesn't fit changes nothing: the request is shown afresh, to whoever is signed in now.
    if (session === undefined || decide === undefined) {
      return backToRequest(reply, site, authorizationRequest);
    }
    const decision = { request: authorizationRequest, token: form.get('decision_token') };
    return decide(reply, site, session, decision, callerOf(request));
  });
}

type Decide = (
  reply: FastifyReply,
  site: Site,
  session: Session,
  decision: { readonly request: AuthorizationRequest; readonly token: string | undefined },
  caller: Caller,
) => Promise<FastifyReply>;

const allow: Decide = async (reply, site, session, { request, token }, caller) => {
  const result = await approve(site.context, session, request, token, caller);
  if (result.outcome === 'stale') return backToRequest(reply, site, request);
  if (result.outcome === 'too many') return showTooMany(reply, againTo(request));
  if (result.outcome === 'full') return showFull(reply, request);
  if (result.outcome === 'spent') return showPage(reply, ALREADY_ANSWERED);
  return backToApplication(reply, result.location);
};

const reject: Decide = async (reply, site, session, { request, token }, caller) => {
  const result = await deny(site.context, session, request, token, caller);
  if (result.outcome === 'stale') return backToRequest(reply, site, request);
  if (result.outcome === 'too many') return showTooMany(reply, againTo(request));
  if (result.outcome === 'too-late') return showPage(reply, ALREADY_ALLOWED);
  return backToApplication(reply, result.location);
};

/** What the two buttons do, by their value. */
const DECISIONS = new Map([
  ['allow', allow],
  ['reject', reject],
]);

function againTo(request: AuthorizationRequest) {
  return { href: requestPath(request), text: 'See the request again' };
}

/** The answer of contract 4.1: a 302, whose `Location` nobody else may see. */
function backToApplication(reply: FastifyReply, location: string): FastifyReply {
  return reply
    .header('cache-control', 'no-store')
    .header('referrer-policy', 'no-referrer')
    .redirect(location, 302);
}

const ALREADY_ANSWERED: NoticePage = {
  name: 'notice',
  title: 'You already allowed this',
  text: 'The application got its answer from this page before. If it does not work there, go back to the application and start again.',
  link: { href: '/account', text: 'See your connected applications' },
};

const ALREADY_ALLOWED: NoticePage = {
  name: 'notice',
  title: 'You already allowed this',
  text: 'You pressed Allow on this page before, so rejecting it now would change nothing. To take the authorization back, disconnect the application.',
  link: { href: '/account', text: 'See your connected applications' },
};
