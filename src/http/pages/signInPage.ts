import type { FastifyReply } from 'fastify';
import type { Provider } from '../../flows/common/provider.ts';
import type { SignInStep } from '../../flows/signIn/signIn.ts';
import { setCookie } from '../browser/cookies.ts';
import { ACCOUNT_PATH, encodeReturnPath, returnPathOf, textsOf } from '../browser/language.ts';
import { signInNote } from '../browser/outcomes.ts';
import { AGAIN, withQuery } from '../browser/redirects.ts';
import { pageLocaleOf } from '../describe/describe.ts';
import { describeClient } from '../describe/describeGranted.ts';
import { queryParameters } from '../request/parameters.ts';
import { formErrorFor } from './formErrors.ts';
import { NOTICE_PAGE } from './noticePage.ts';
import type { FormFeedback, Page } from './page.ts';
import { showPage } from './views.ts';

interface Fields extends FormFeedback {
  /** The canonical query of the request to continue; null for the account page. */
  readonly request: string | null;
  readonly formToken: string;
  readonly client: ReturnType<typeof describeClient> | null;
  /** Typed before, so that a wrong password doesn't clear the login too. */
  readonly login: string;
}

export const SIGN_IN_PAGE: Page<Fields> = {
  name: 'sign-in',
  ownValues: ['request', 'formToken'],
  asksForPassword: () => true,
};

export function showSignIn(reply: FastifyReply, step: SignInStep): FastifyReply {
  const { authorizationRequest, formToken, newCookie } = step;
  const { provider } = reply.server.context;
  const request = authorizationRequest?.canonicalQuery ?? null;
  if (provider !== null) return showLeaving(reply, provider, request);
  if (newCookie !== null) setCookie(reply, 'preLogin', newCookie);
  const client =
    authorizationRequest && describeClient(authorizationRequest.client, pageLocaleOf(reply.request));
  const { error = null, typed: [login = ''] = [] } =
    formErrorFor(reply, '/oauth/sign-in', authorizationRequest) ?? {};
  const undone = error === null ? signInNote(reply, authorizationRequest) : null;
  return showPage(reply, SIGN_IN_PAGE, { request, formToken, client, login, error, undone });
}

/** Leads to the provider by a page: a redirect would be part of an application's form, whose `form-action` may forbid it. */
function showLeaving(reply: FastifyReply, { issuer }: Provider, query: string | null): FastifyReply {
  const { button: title, elsewhere } = textsOf(reply.request).signIn;
  const again = queryParameters(reply.request).only(['prompt']) === AGAIN ? AGAIN : '';
  const path = returnPathOf(reply.request);
  const page = query === null && path !== ACCOUNT_PATH ? `back=${encodeReturnPath(path)}` : '';
  const href = withQuery('/oauth/sign-in', query, again, page);
  const links = [{ href, text: title }];
  const text = elsewhere({ host: new URL(issuer).host });
  reply.header('refresh', `0; url=${href}`);
  return showPage(reply, NOTICE_PAGE, { title, text, links, refusal: null });
}
