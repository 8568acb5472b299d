import type { FastifyInstance } from 'fastify';
import type { Context } from '../../flows/common/context.ts';
import { release, spend } from '../../flows/token/spend.ts';
import { callerOf } from '../../listener/caller.ts';
import { sendJson } from '../../listener/json.ts';
import { parsePayment } from '../../rules/spending/payment.ts';
import { bodyParameters } from '../request/parameters.ts';
import { basicOf, refuseCaller } from './token.ts';

/** The endpoints that count payments (`SPENDING`), for resource servers. */
export function spendRoutes(app: FastifyInstance, context: Context): void {
  app.post('/oauth/spend', async (request, reply) => {
    const [form, credentials] = [bodyParameters(request), basicOf(request)];
    if (credentials === null) return refuseCaller(request, reply, null);
    const [token, payment] = [form.require('token'), parsePayment(form)];
    const answer = await spend(context, credentials, token, payment, callerOf(request));
    if ('known' in answer) return refuseCaller(request, reply, credentials, answer.known);
    if (answer.active) {
      const outcome = 'reason' in answer ? answer.reason : answer.verdict;
      request.logOutcome = { client_id: answer.client_id, outcome };
    }
    return sendJson(reply, 200, answer);
  });

  app.post('/oauth/spend/release', async (request, reply) => {
    const [form, credentials] = [bodyParameters(request), basicOf(request)];
    if (credentials === null) return refuseCaller(request, reply, null);
    const payment = { grantId: form.require('grant_id'), key: form.require('key') };
    const answer = await release(context, credentials, payment, callerOf(request));
    if ('known' in answer) return refuseCaller(request, reply, credentials, answer.known);
    return sendJson(reply, 200, answer);
  });
}
