import { type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import { ipAddressOf } from '../../listener/caller.ts';
import { lineOf, loggedPathOf } from '../../listener/logLine.ts';
import { onceAMinute } from '../../signals/onceAMinute.ts';
import { FORWARDED_FOR_REFERENCE, SERVER_ERROR_FIELDS } from '../../watch/refusals.ts';
import { namedClient } from './parameters.ts';

/** One log line for each answered request. Never the query, a header or a body, which contain secrets. */
export class RequestLogger extends LogController {
  readonly #trustsProxy: boolean;
  readonly #warned = new Set<string>();
  readonly #noteForwarded = onceAMinute((rule: string, { socket, server }: FastifyRequest) => {
    if (!this.#warned.has(rule)) server.log.warn({ sender: socket.remoteAddress }, rule);
    this.#warned.add(rule);
    const note = {
      reference: FORWARDED_FOR_REFERENCE,
      method: '-',
      path: '-',
      status: 0,
      error: '-',
      rule,
      ruleId: null,
    };
    server.refusals.note({ ...note, clientId: null }, '');
  });

  constructor(trustsProxy: boolean) {
    super({ disableRequestLogging: true, requestIdLogLabel: 'ref' });
    this.#trustsProxy = trustsProxy;
  }

  /** Why the request's address may be a proxy's; null if it is the caller's. */
  #whyUnforwarded({ headers, ips, routeOptions }: FastifyRequest, address: string): string | null {
    if ('x-forwarded-for' in headers) {
      if ((ips?.length ?? 0) < 2)
        return 'X-Forwarded-For is ignored, as TRUST_PROXY does not name its sender';
      return address === 'unknown' ? 'X-Forwarded-For is ignored, as it has no address' : null;
    }
    // Programs beside the server, such as health checks, need no proxy; of HTTP that can't be read nothing is known.
    const isExpected = this.#trustsProxy && routeOptions.url?.startsWith('/oauth/') && headers.host;
    return isExpected ? 'TRUST_PROXY is set, but X-Forwarded-For is missing' : null;
  }

  override requestCompleted(error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply) {
    const line = lineOf(request, reply);
    const why = this.#whyUnforwarded(request, line.address);
    if (why !== null) this.#noteForwarded(`${why}: users behind a proxy count as one`, request);
    // A refused form is answered by a 303; the page that says so, perhaps with 429, is no refusal of its own.
    if (request.logFields !== null || reply.statusCode >= 500) noteRefusal(request, reply.statusCode);
    if (error) request.log.warn({ ...line, err: error }, 'response aborted before completion');
    else if (request.routeOptions.config?.isHealthCheck) request.log.debug(line, 'request');
    else request.log.info(line, 'request');
  }
}

export function noteRefusal(request: FastifyRequest, status: number): void {
  const { id: reference, method, server, logFields } = request;
  const { error, rule, rule_id: ruleId } = logFields ?? SERVER_ERROR_FIELDS;
  // Forms shown again: they display no reference, and throttled attempts write nothing.
  if (error === 'wrong_password' || error === 'too_many_tries') return;
  const clientId = namedClient(request);
  const refusal = { reference, method, path: loggedPathOf(request), status, error, rule, ruleId, clientId };
  server.refusals.note(refusal, ipAddressOf(request));
}
