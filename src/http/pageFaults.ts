import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { OAuthError } from '../oauth/error.ts';
import { RETRY_AFTER_SECONDS, sortFault } from './faults.ts';
import type { ErrorPage } from './pages.ts';
import { showPage } from './views.ts';

/** Makes every error of a page's route a page: the contract's three codes with 400 and never a redirect (4.1). */
export function answerFaultsWithPages(app: FastifyInstance): void {
  app.setErrorHandler(async (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    const fault = sortFault(error, request);
    if (fault.kind === 'refused') return showPage(reply, refusalPage(fault.error, request.id), 400);
    if (fault.kind === 'away') {
      reply.header('retry-after', RETRY_AFTER_SECONDS);
      return showPage(
        reply,
        faultPage('We can’t answer just now', 'Please try again in a moment.', request.id),
        503,
      );
    }
    return showPage(
      reply,
      faultPage('Something went wrong', 'The fault is ours. Please try again.', request.id),
      500,
    );
  });
}

function refusalPage({ code, message }: OAuthError, reference: string): ErrorPage {
  return { name: 'error', title: TITLES[code] ?? 'This request can’t go on', text: message, code, reference };
}

const TITLES: Partial<Record<OAuthError['code'], string>> = {
  invalid_request: 'This request can’t be carried out',
  invalid_scope: 'The application asked for rights we can’t give',
  unauthorized_client: 'This application may not ask you',
};

function faultPage(title: string, text: string, reference: string): ErrorPage {
  return { name: 'error', title, text, code: null, reference };
}
