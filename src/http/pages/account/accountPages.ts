import type { FastifyInstance, FastifyReply } from 'fastify';
import { type Session, signOutToken } from '../../../flows/signIn/session.ts';
import type { Parameters } from '../../../rules/request/parameters.ts';
import { FORM_OPTIONS, receiveForm } from '../../browser/forms.ts';
import { rememberOutcome } from '../../browser/outcomes.ts';
import { seeOther } from '../../browser/redirects.ts';
import type { Link } from '../../describe/describe.ts';
import type { describeWarnings } from '../../describe/describeWarnings.ts';

/** A signed-in user's own pages have the same head. */
export type AccountPageHead = ReturnType<typeof accountPageHead>;

export function accountPageHead(session: Session, { server }: FastifyReply) {
  const { name: userName, login: userLogin } = session.user;
  return { userName, userLogin, signOutToken: signOutToken(server.context, session) };
}

/** Shown once at the top after a form. */
export interface Banner {
  readonly done: string | null;
  readonly ways: readonly Link[];
  readonly undone: string | null;
  readonly warnings: ReturnType<typeof describeWarnings> | null;
}

/** To the sign-in page, which says that a form of the user's own pages has changed nothing. */
export function redirectToSignIn(reply: FastifyReply): FastifyReply {
  rememberOutcome(reply, 'stale', null);
  return seeOther(reply);
}

/** Adds a form of the user's own pages. @param receive returns the path of the next page */
export function addAccountForm(
  app: FastifyInstance,
  path: string,
  receive: (form: Parameters, session: Session, reply: FastifyReply) => Promise<string>,
): void {
  app.post(path, FORM_OPTIONS, async (request, reply) => {
    const { form, session } = await receiveForm(request);
    return session === null ? redirectToSignIn(reply) : seeOther(reply, await receive(form, session, reply));
  });
}
