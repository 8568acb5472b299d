import type { FastifyInstance, FastifyReply } from 'fastify';
import type { AuthorizationRequest } from '../../rules/request/authorizationRequest.ts';
import { requestPath, returnPathOf, textsOf } from '../browser/language.ts';
import { accountLink, type Link } from '../describe/describe.ts';
import { refusalOf } from './errorPage.ts';
import { logRefused } from './formErrors.ts';
import type { Page } from './page.ts';
import { showPage } from './views.ts';

interface Fields {
  readonly title: string;
  readonly text: string;
  readonly links: readonly Link[];
  readonly refusal: ReturnType<typeof refusalOf> | null;
}

export const NOTICE_PAGE: Page<Fields> = { name: 'notice' };

function showRefusal(reply: FastifyReply, status: number, notice: Omit<Fields, 'refusal'>): FastifyReply {
  return showPage(reply, NOTICE_PAGE, { ...notice, refusal: refusalOf(reply.request) }, status);
}

/** Refuses requests for a frame, an embed or a script by Fetch Metadata (clickjacking), and sign-ins before a click. */
export function refuseEmbedding(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { 'sec-fetch-dest': destination = 'document', 'sec-purpose': purpose } = request.headers;
    const isAhead = purpose !== undefined && request.routeOptions.url?.startsWith('/oauth/sign-in');
    if (!isAhead && destination === 'document') return done();
    logRefused(reply, 'embedded', 'requested as a part of another page or by a script, not as a page');
    const { embedded, newTab } = textsOf(request).notices;
    // A posted body is not read, so its address is unknown.
    const isKnown = request.method === 'GET';
    const links = isKnown ? [{ href: returnPathOf(request), text: newTab, inNewTab: true }] : [];
    showRefusal(reply, 403, { ...embedded, links });
  });
}

export function showTooManyInstances(reply: FastifyReply, request: AuthorizationRequest): FastifyReply {
  const rule = 'this user and application already have MAX_INSTANCES live authorizations';
  logRefused(reply, 'too_many_instances', rule);
  const texts = textsOf(reply.request);
  const { title, text } = texts.notices.full;
  const links = [accountLink(texts), { href: requestPath(request), text: texts.notices.seeRequest }];
  return showRefusal(reply, 409, { title, text: text({ client: request.client.name }), links });
}

/** The user rejected, or left, at the provider. @param request of the decision that was to be confirmed; null for none */
export function showNotSignedIn(reply: FastifyReply, again: string, request: AuthorizationRequest | null) {
  const texts = textsOf(reply.request);
  const back = request ? [{ href: requestPath(request), text: texts.notices.seeRequest }] : [];
  const links = [{ href: again, text: texts.errors.tryAgain }, ...back];
  const title = texts.errors.titles[request ? 'not_confirmed' : 'not_signed_in'];
  return showPage(reply, NOTICE_PAGE, { title, text: texts.notices.notSignedIn, links, refusal: null });
}
