import {
  type Application,
  authorizationRequest,
  exchange,
  newAttempt,
  OAuthRefusal,
  readAnswer,
  revoke,
} from '../../examples/oauthClient.mjs';
import { isPaid, type Payment, type PaymentApi } from './paymentApi.ts';
import { addressBlock, type Exchange, formBlock, Recorder, readableJson } from './recorder.ts';
import { type MessageKind, type Session, type Story, type Token, tell } from './sessions.ts';

// The steps of Demo Shop with their messages. A real application takes the same steps and shows nothing.

/** Begins a story. @returns the form for the browser to post */
export function ask(session: Session, application: Application): void {
  const { scope, instance } = session.wish;
  const attempt = newAttempt();
  const request = authorizationRequest(application, attempt, scope, instance);
  const { token = null, ended = false } = session.story ?? {};
  if (token !== null) session.earlier = ended ? null : token;
  session.story = {
    attempt,
    instance,
    request,
    answered: false,
    code: null,
    token: null,
    ended: false,
    budget: null,
    messages: [],
    newest: 0,
  };
}

export function requestOf({ request }: Story, { server }: Application): Exchange {
  return { sent: formBlock(`${server}/oauth/authorize`, request), received: null };
}

const KINDS_OF_ANSWERS: Readonly<Record<string, MessageKind>> = {
  access_denied: 'rejected',
  unasked_answer: 'unasked',
};

/** Takes the browser's answer. @returns true if there is a code to exchange */
export function takeAnswer(story: Story, application: Application, query: URLSearchParams): boolean {
  const answer = { sent: addressBlock(application.redirectUri, query), received: null };
  if (story.messages.length === 0) {
    tell(story, 'request', 'browserToServer', requestOf(story, application));
  }
  try {
    story.code = readAnswer(query, story.answered ? null : story.attempt);
    tell(story, 'code', 'browserToShop', answer);
  } catch (error) {
    if (!(error instanceof OAuthRefusal)) throw error;
    const kind = KINDS_OF_ANSWERS[error.error] ?? 'refused';
    tell(story, kind, 'browserToShop', answer);
    if (kind === 'unasked') return false; // the true answer may still come
  }
  story.answered = true;
  return story.code !== null;
}

/** Exchanges the code, then again as a thief would. @param refused the message kind for a refusal */
export async function exchangeCode(
  story: Story,
  application: Application,
  refused: MessageKind = 'refused',
): Promise<void> {
  const { attempt, code, instance } = story;
  if (code === null) return;
  const recorder = new Recorder();
  try {
    const { accessToken, expiresIn } = await exchange(application, attempt, code, recorder.fetch);
    story.token = { value: accessToken, expiresAt: new Date(Date.now() + expiresIn * 1000), instance };
    tell(story, 'token', 'shopToServer', recorder.last);
  } catch (error) {
    tellRefusal(story, error, refused, recorder);
  }
}

function tellRefusal(story: Story, error: unknown, kind: MessageKind, { last }: Recorder): void {
  if (error instanceof OAuthRefusal) tell(story, kind, 'shopToServer', last, error.error);
  else tell(story, 'unanswered', 'shopToServer', last);
}

/** Has the payment API introspect a token. @param ended the message kind for an ended one */
export async function introspect(
  story: Story,
  payments: PaymentApi,
  token: Token,
  ended: MessageKind = 'inactive',
): Promise<void> {
  const recorder = new Recorder();
  const told = await payments.introspect(token.value, recorder.fetch).catch(() => null);
  if (told?.active === false && token === story.token) story.ended = true;
  const kind = told?.active ? 'allows' : ended;
  tell(story, told === null ? 'unanswered' : kind, 'paymentsToServer', recorder.last);
}

/** Shows that a new token for the same connection ended the earlier one. */
export async function lookAtEarlier(session: Session, story: Story, payments: PaymentApi): Promise<void> {
  const { earlier } = session;
  if (earlier?.instance === story.instance) await introspect(story, payments, earlier, 'annulled');
}

/** Sends the token and a payment to the payment API. */
export async function spend(story: Story, payments: PaymentApi, payment: Payment): Promise<void> {
  if (story.token === null) return;
  const recorder = new Recorder();
  const outcome = await payments.pay(story.token.value, payment, recorder.fetch).catch(() => null);
  if (outcome === null) return tell(story, 'unanswered', 'paymentsToServer', recorder.last);
  const { verdict, budget = story.budget, ...details } = outcome;
  story.budget = budget;
  story.ended ||= verdict === 'invalid_token';
  if (recorder.last !== undefined) {
    tell(story, verdict === 'invalid_token' ? 'inactive' : 'allows', 'paymentsToServer', recorder.last);
  }
  const sent = { line: '', fields: Object.entries(payment) };
  const received = { line: '', text: readableJson({ result: verdict, ...details }) };
  tell(story, isPaid(verdict) ? 'paid' : 'notPaid', 'shopToPayments', { sent, received }, verdict);
}

/** Revokes the token, but keeps it to show that it no longer works. */
export async function giveBack(story: Story, application: Application): Promise<void> {
  if (story.token === null) return;
  const recorder = new Recorder();
  try {
    await revoke(application, story.token.value, recorder.fetch);
    story.ended = true;
    tell(story, 'givenBack', 'shopToServer', recorder.last);
  } catch (error) {
    tellRefusal(story, error, 'refused', recorder);
  }
}
