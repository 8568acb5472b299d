import type { FastifyReply } from 'fastify';
import type { Receipt } from '../../flows/authorize/decide.ts';
import type { Choice } from '../../flows/authorize/decisionForms.ts';
import type { AuthorizationRequest } from '../../rules/request/authorizationRequest.ts';
import { decisionPath } from '../browser/redirects.ts';
import { pageLocaleOf } from '../describe/describe.ts';
import { describeGranted } from '../describe/describeGranted.ts';
import type { Page } from './page.ts';
import { showPage } from './views.ts';

type Fields = ReturnType<typeof describeGranted> & {
  readonly choice: Choice;
  /** The address that leads to the application; null if its code is used or expired. */
  readonly onward: string | null;
};

export const RECEIPT_PAGE: Page<Fields> = { name: 'receipt', ownValues: ['onward', 'instanceName'] };

/** Says what was decided, and leads on to the application. */
export function showReceipt(
  reply: FastifyReply,
  authorizationRequest: AuthorizationRequest,
  receipt: Receipt,
  decision: string,
): FastifyReply {
  const { choice, rights, location } = receipt;
  const onward = location && decisionPath('/oauth/return', authorizationRequest, decision);
  // At once: on Android an application opens only as the consequence of a press, for a few seconds.
  if (onward !== null) reply.header('refresh', `0; url=${onward}`);
  return showPage(reply, RECEIPT_PAGE, {
    choice,
    onward,
    ...describeGranted(rights, authorizationRequest, receipt, pageLocaleOf(reply.request)),
  });
}
