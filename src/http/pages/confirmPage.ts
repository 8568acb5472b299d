import type { FastifyReply } from 'fastify';
import { type ConfirmStep, takesPassword } from '../../flows/authorize/confirmPayment.ts';
import { pageLocaleOf } from '../describe/describe.ts';
import { describeGranted } from '../describe/describeGranted.ts';
import { formErrorFor } from './formErrors.ts';
import { type Page, paymentPasswordUsername } from './page.ts';
import { showPage } from './views.ts';

type Fields = ReturnType<typeof describeGranted> & {
  readonly error: string | null;
  readonly request: string;
  readonly signOutToken: string;
  /** Signed as decided; sent with the payment password. */
  readonly decision: string;
  /** Browsers keep the payment password under this name, beside the login's. Null: the provider confirms. */
  readonly keptAs: string | null;
};

export const CONFIRM_PAGE: Page<Fields> = {
  name: 'confirm',
  ownValues: ['request', 'instanceName', 'signOutToken', 'keptAs', 'decision'],
  asksForPassword: ({ keptAs }) => keptAs !== null,
};

/** Asks for the payment password, or leads to the provider, for exactly what was decided. */
export function showConfirm(reply: FastifyReply, step: ConfirmStep): FastifyReply {
  const { authorizationRequest, decision, granted, signOutToken } = step;
  return showPage(reply, CONFIRM_PAGE, {
    error: formErrorFor(reply, '/oauth/confirm', authorizationRequest)?.error ?? null,
    request: authorizationRequest.canonicalQuery,
    decision,
    signOutToken,
    keptAs: takesPassword(reply.server.context) ? paymentPasswordUsername(step.user) : null,
    ...describeGranted(granted, authorizationRequest, step, pageLocaleOf(reply.request)),
  });
}
