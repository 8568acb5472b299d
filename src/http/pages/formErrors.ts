import type { FastifyReply } from 'fastify';
import type { FailedAttempt } from '../../flows/signIn/passwordAttempts.ts';
import type { Texts } from '../../languages/languages.ts';
import { describeWait } from '../../languages/rights.ts';
import type { RuleId } from '../../rules/common/refusals.ts';
import { onceAMinute } from '../../signals/onceAMinute.ts';
import { textsOf } from '../browser/language.ts';
import {
  isKeyOf,
  lastOutcome,
  type OutcomeMessageKey,
  type OutcomeOptions,
  type OutcomeTarget,
  rememberOutcome,
} from '../browser/outcomes.ts';

function errorsIn(texts: Texts, seconds: number) {
  const { signIn, confirm, security, consent } = texts;
  return {
    signIn: signIn.wrong,
    paymentPassword: confirm.wrong,
    oldPassword: security.oldIsWrong,
    needsPassword: consent.needsPassword,
    too_many_tries: texts.tooManyTries({ wait: describeWait(seconds, texts) }),
    wrong_limits: consent.limits.undone,
    ...security.problems,
  };
}

/** Logs a refusal that has its own name: the `error` is the rule's id. */
export function logRefused({ request }: FastifyReply, error: RuleId, rule: string): void {
  request.logFields = { error, rule, rule_id: error };
}

const warn = onceAMinute((text: string, { log }: FastifyReply, user_id: string) =>
  log.warn({ user_id }, text),
);

/** Refuses a form for a reason that its page says. */
export function refuseForm(
  reply: FastifyReply,
  [id, rule]: readonly [id: RuleId, rule: string],
  error: keyof ReturnType<typeof errorsIn>,
  subject: OutcomeTarget,
  more: OutcomeOptions = {},
): void {
  logRefused(reply, id, rule);
  rememberOutcome(reply, error, subject, { form: reply.request.routeOptions.url, ...more });
}

/** Refuses a password form. @param form the text of a wrong one */
export function refuseAttempt(
  reply: FastifyReply,
  failed: FailedAttempt,
  form: 'signIn' | 'paymentPassword' | 'oldPassword',
  subject: OutcomeTarget,
  typed: readonly string[] = [],
): void {
  if (failed.outcome === 'wrong') {
    if (failed.unreadableOf) warn("this user's password hash can't be read", reply, failed.unreadableOf);
    refuseForm(reply, ['wrong_password', 'the password is wrong'], form, subject, { typed });
  } else {
    const { waitSeconds: seconds } = failed;
    const rule = ['too_many_tries', `throttled for another ${seconds} s`] as const;
    refuseForm(reply, rule, 'too_many_tries', subject, { seconds, typed });
  }
}

/** The user has decided too often just now: a minute is enough for a few more decisions. */
export function refuseDecision(
  reply: FastifyReply,
  subject: OutcomeTarget,
  note: OutcomeMessageKey = 'too_many_decisions',
): void {
  logRefused(reply, 'too_many_decisions', 'more decisions of one user than a person can make in that time');
  rememberOutcome(reply, note, subject, { seconds: 60 });
}

/** Why the form of this page is shown again, and what was typed there; null for another reason. @param form its path */
export function formErrorFor(reply: FastifyReply, form: string, subject: OutcomeTarget) {
  const last = lastOutcome(reply, subject, form);
  if (last === null) return null;
  const { outcome, typed, seconds } = last;
  const texts = textsOf(reply.request);
  const errors = errorsIn(texts, seconds);
  const isOfNewPassword = isKeyOf(texts.security.problems, outcome);
  return isKeyOf(errors, outcome) ? { error: errors[outcome], typed, isOfNewPassword } : null;
}
