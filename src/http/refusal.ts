import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendJson } from './json.ts';
import { pathOf } from './requestParameters.ts';
import { showPage } from './views.ts';

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
