import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RefusalLog } from '../../flows/refusals.ts';
import type { Site } from '../browser/cookies.ts';
import { showPage } from '../browser/views.ts';
import { callerOf } from './caller.ts';
import { sendJson } from './json.ts';
import { loggedPathOf, pathOf } from './parameters.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Why requests were refused, for `assent explain`. */
    readonly refusals: RefusalLog;
  }
}

/** Lets every refusal be explained later; what waits to be kept is written before the server ends. */
export function keepRefusals(app: FastifyInstance, { context }: Site): void {
  const refusals = new RefusalLog(context);
  app.decorate('refusals', refusals);
  app.addHook('preClose', () => refusals.write());
}

/** Addresses that programs call: they are answered in JSON, all others with a page. */
const DOCUMENT_PATHS = /^\/(oauth\/(token|introspect|revoke)|api|health|metrics|\.well-known)(\/|$)/;

/** The contract's codes that a page shows (7.1); other errors are ours and mean nothing to an application. */
const SHOWN_CODES = ['invalid_request', 'invalid_scope', 'unauthorized_client'];

/** An answer that is no success, before it takes the form that its caller reads. */
export interface Refusal {
  readonly status: number;
  /** The contract's code, or a word of our own. */
  readonly error: string;
  readonly title: string;
  readonly text: string;
}

/** Answers with JSON where programs call (contract 7.2) and with a page where people look (7.1), never with a redirect. */
export function answerRefusal(request: FastifyRequest, reply: FastifyReply, refusal: Refusal): FastifyReply {
  const { status, error, title, text } = refusal;
  if (DOCUMENT_PATHS.test(request.routeOptions.url ?? pathOf(request))) {
    const description = status < 500 ? text : `${text} Reference ${request.id}.`;
    return sendJson(reply, status, { error, error_description: description });
  }
  const code = SHOWN_CODES.includes(error) ? error : null;
  return showPage(reply, { name: 'error', title, text, code, reference: request.id }, status);
}

/** Forms that are shown again: no reference stands on them, and being told to wait writes nothing. */
const SHOWN_AGAIN = ['wrong_password', 'too_many_tries'];

/** Keeps why a request was refused, under the reference that its answer has. */
export function noteRefusal(request: FastifyRequest, status: number): void {
  const { id: reference, method, server, logFields } = request;
  const { error = 'server_error', rule = 'a fault of ours' } = logFields ?? {};
  if (SHOWN_AGAIN.includes(error)) return;
  const refusal = { reference, method, path: loggedPathOf(request), status, error, rule };
  server.refusals.note(refusal, callerOf(request).address);
}
