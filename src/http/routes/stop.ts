import type { FastifyInstance } from 'fastify';
import type { Context } from '../../flows/context.ts';
import type { Session } from '../../flows/session.ts';
import { isEverythingStopped, stopEverything } from '../../flows/stopEverything.ts';
import type { Texts } from '../../languages/languages.ts';
import type { AccountPage } from '../browser/accountPages.ts';
import { OWN_FORM, receiveForm } from '../browser/forms.ts';
import { toPasswords } from '../browser/links.ts';
import { showTooMany } from '../browser/notices.ts';
import { seeOther } from '../browser/steps.ts';
import { callerOf } from '../server/caller.ts';

/** Disconnects every application and signs out every other browser. */
export function stopRoutes(app: FastifyInstance, context: Context): void {
  app.post('/account/stop', OWN_FORM, async (request, reply) => {
    const { form, session } = await receiveForm(request, context);
    if (session === null) return seeOther(reply, context, '/account?undone=stop');
    const { outcome } = await stopEverything(context, session, form.get('form_token'), callerOf(request));
    if (outcome === 'stale') return seeOther(reply, context, '/account?undone=stop');
    if (outcome === 'too_many') return showTooMany(reply, '/account', 'stop');
    return seeOther(reply, context, '/account?stopped=everything');
  });
}

/** What the account page says after that: what is true now, whoever made the link. */
export async function describeStop(
  context: Context,
  session: Session,
  texts: Texts,
): Promise<Pick<AccountPage, 'title' | 'done' | 'ways' | 'undone'>> {
  const { stop } = texts;
  if (!(await isEverythingStopped(context, session))) {
    return { title: stop.titleUndone, done: null, ways: [], undone: stop.undone };
  }
  const ways = toPasswords(texts, session.user.paymentPasswordHash !== null);
  return { title: stop.titleDone, done: stop.done, ways, undone: null };
}
