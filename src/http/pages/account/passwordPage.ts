import type { FastifyReply } from 'fastify';
import type { findPasswordForm } from '../../../flows/account/changePassword.ts';
import type { Session } from '../../../flows/signIn/session.ts';
import { formErrorFor } from '../formErrors.ts';
import { type Page, paymentPasswordUsername } from '../page.ts';
import { showPage } from '../views.ts';
import { type AccountPageHead, accountPageHead } from './accountPages.ts';

type PasswordForm = NonNullable<Awaited<ReturnType<typeof findPasswordForm>>>;

interface Fields extends AccountPageHead, PasswordForm {
  readonly path: string;
  /** Password managers keep the changed password under this name. */
  readonly keptAs: string;
  readonly error: string | null;
  readonly wrong: 'old' | 'new';
}

export const PASSWORD_PAGE: Page<Fields> = { name: 'password', asksForPassword: () => true };

/** Changes a password. @param path of its form */
export function showPasswordPage(
  reply: FastifyReply,
  path: string,
  session: Session,
  form: PasswordForm,
): FastifyReply {
  const failed = formErrorFor(reply, path, path);
  return showPage(reply, PASSWORD_PAGE, {
    ...accountPageHead(session, reply),
    ...form,
    path,
    keptAs: form.kind === 'password' ? session.user.login : paymentPasswordUsername(session.user),
    error: failed?.error ?? null,
    wrong: failed?.isOfNewPassword ? 'new' : 'old',
  });
}
