import { type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import { onceAMinute } from '../../signals/onceAMinute.ts';
import { FORWARDED, OWN_FAULT } from '../../watch/refusals.ts';
import { addressOf } from './caller.ts';
import { loggedPathOf, namedClient } from './parameters.ts';

/** One log line for each answered request. Never the query, a header or a body, which contain secrets. */
export class RequestLog extends LogController {
  readonly #warned = new Set<string>();
  readonly #noteForwarded = onceAMinute((rule: string, { socket, server }: FastifyRequest) => {
    if (!this.#warned.has(rule)) server.log.warn({ sender: socket.remoteAddress }, rule);
    this.#warned.add(rule);
    const note = { reference: FORWARDED, method: '-', path: '-', status: 0, error: '-', rule, ruleId: null };
    server.refusals.note({ ...note, clientId: null }, '');
  });

  override requestCompleted(error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply) {
    const line = lineOf(request, reply);
    if ('x-forwarded-for' in request.headers) {
      const isUsed = (request.ips?.length ?? 0) > 1;
      const why = isUsed ? 'it has no address' : 'TRUST_PROXY does not name its sender';
      const text = `X-Forwarded-For is ignored, as ${why}: users behind a proxy count as one`;
      if (!isUsed || line.address === 'unknown') this.#noteForwarded(text, request);
    }
    // A refused form is answered by a 303; the page that says so, perhaps with 429, is no refusal of its own.
    if (request.logFields !== null || reply.statusCode >= 500) noteRefusal(request, reply.statusCode);
    if (error) request.log.warn({ ...line, err: error }, 'response aborted before completion');
    else if (request.routeOptions.config?.isHealthCheck) request.log.debug(line, 'request');
    else request.log.info(line, 'request');
  }
}

/** The fields of each line, here and in the operators' API. What is spread stands last: V8 of Node 20 is slow at other orders. */
export const lineOf = (request: FastifyRequest, reply: FastifyReply) => ({
  method: request.method,
  path: loggedPathOf(request),
  status: reply.statusCode,
  address: addressOf(request),
  ms: Math.round(reply.elapsedTime * 10) / 10,
  ...request.logOutcome,
  ...request.logFields,
});

export function noteRefusal(request: FastifyRequest, status: number): void {
  const { id: reference, method, server, logFields } = request;
  const { error, rule, rule_id: ruleId } = logFields ?? OWN_FAULT;
  // Forms shown again: they display no reference, and throttled attempts write nothing.
  if (error === 'wrong_password' || error === 'too_many_tries') return;
  const clientId = namedClient(request);
  const refusal = { reference, method, path: loggedPathOf(request), status, error, rule, ruleId, clientId };
  server.refusals.note(refusal, addressOf(request));
}
