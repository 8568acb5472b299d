import formbody from '@fastify/formbody';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { OAuthError } from '../../rules/common/error.ts';
import { MAX_CANONICAL_QUERY_BYTES } from '../../rules/common/limits.ts';
import { parseBasicCredentials } from '../../rules/request/clientCredentials.ts';
import { MAX_PARAMETERS, Parameters } from '../../rules/request/parameters.ts';

/** More than any request of the contract needs. */
export const CONTRACT_BODY_LIMIT_BYTES = 8 * 1024;

const FORM = 'application/x-www-form-urlencoded';
export const NOT_A_FORM = `The body must be ${FORM}.`;

const NONE = new Parameters('');

/** The consent form has a field for each limit; the shortest right with one, `a("1")`, takes 10 bytes of the request. */
export const MAX_LIMIT_FIELDS = MAX_CANONICAL_QUERY_BYTES / 10;

/** Parses form bodies strictly, and no other kind (contract section 4). @param more fields beyond `MAX_PARAMETERS` */
export async function parseForms(app: FastifyInstance, more = 0): Promise<void> {
  app.removeAllContentTypeParsers();
  await app.register(formbody, {
    parser: (body) => new Parameters(body, MAX_PARAMETERS + more) as unknown as Record<string, unknown>,
  });
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: FastifyRequest, body: Buffer) => {
    if (body.length === 0) return undefined; // SDKs post an empty body with the parameters in the URL
    throw new OAuthError('body_not_a_form', NOT_A_FORM);
  });
}

export function bodyParameters(request: FastifyRequest): Parameters {
  return request.body instanceof Parameters ? request.body : NONE;
}

export function queryParameters(request: FastifyRequest): Parameters {
  const url = request.raw.url ?? '';
  const start = url.indexOf('?');
  return start < 0 ? NONE : new Parameters(url.slice(start + 1));
}

/** The application named by a request, or by the request in one of our forms; null if unreadable. */
export function namedClient(request: FastifyRequest): string | null {
  try {
    const form = bodyParameters(request);
    const sent = form.get('client_id') ?? queryParameters(request).get('client_id');
    const carried = () => new Parameters(form.get('request') ?? '').get('client_id');
    return sent ?? carried() ?? parseBasicCredentials(request.headers.authorization)?.id ?? null;
  } catch {
    return null;
  }
}

/** Path and query as sent, without the origin of an absolute URL. */
export function targetOf({ raw }: FastifyRequest): string {
  return raw.url?.replace(/^https?:\/\/[^/]*/i, '') ?? '';
}

/** The router's view of it: decoded, if that is possible. */
export function pathOf(request: FastifyRequest): string {
  const [path = ''] = targetOf(request).split(/[?#]/, 1);
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
