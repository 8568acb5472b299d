import {
  type Application,
  authorizationRequest,
  exchange,
  newAttempt,
  OAuthRefusal,
  readAnswer,
  revoke,
} from '../../../examples/oauthClient.mjs';
import { addressBlock, formBlock, type Message, type MessageKind, messageOf } from './message.ts';
import { isPaid, type Payment, type PaymentApi } from './paymentApi.ts';
import { Recorder, readableJson } from './recorder.ts';
import { type Session, type Story, type Tampering, type Token, tell } from './sessions.ts';

// What Demo Shop does, each with the messages that it tells. A real application does the same and tells nobody.

/** Begins a story: the form that the browser is to post. */
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
    tampered: null,
    answered: false,
    code: null,
    exchanged: false,
    token: null,
    ended: false,
    messages: [],
    newest: 0,
  };
}

/** Changes a field of the request on purpose, or changes it back. */
export function tamper(story: Story, application: Application, what: Tampering | null): void {
  const { state } = story.attempt;
  const { redirectUri } = application;
  story.tampered = what;
  story.request = {
    ...story.request,
    state: what === 'state' ? `${state.slice(0, -4)}oops` : state,
    redirect_uri: what === 'redirect_uri' ? `${redirectUri}/elsewhere` : redirectUri,
  };
}

/** The request, as the first message. */
export function requestMessage({ request }: Story, { server }: Application): Message {
  return messageOf('request', 'browserToServer', {
    sent: formBlock(`${server}/oauth/authorize`, request),
    received: null,
  });
}

const KINDS_OF_ANSWERS: Readonly<Record<string, MessageKind>> = {
  access_denied: 'rejected',
  unasked_answer: 'unasked',
};

/** Takes the answer that the browser brought. @returns whether there is a code to exchange */
export function takeAnswer(story: Story, application: Application, query: URLSearchParams): boolean {
  const told = { sent: addressBlock(application.redirectUri, query), received: null };
  if (story.messages.length === 0) tell(story, requestMessage(story, application));
  try {
    const value = readAnswer(query, story.answered ? null : story.attempt);
    story.code = { value, cameAt: new Date() };
    tell(story, messageOf('code', 'browserToShop', told));
  } catch (error) {
    if (!(error instanceof OAuthRefusal)) throw error;
    const kind = KINDS_OF_ANSWERS[error.error] ?? 'failed';
    tell(story, messageOf(kind, 'browserToShop', told));
    if (kind === 'unasked') return false; // the true answer may still come
  }
  story.answered = true;
  return story.code !== null;
}

/** Exchanges the code; the second time on purpose, as a thief would. */
export async function exchangeCode(story: Story, application: Application): Promise<void> {
  if (story.code === null) return;
  const isReplay = story.exchanged;
  story.exchanged = true;
  const recorder = new Recorder();
  try {
    const { accessToken, expiresIn } = await exchange(
      application,
      story.attempt,
      story.code.value,
      recorder.fetch,
    );
    const expiresAt = new Date(Date.now() + expiresIn * 1000);
    story.token = { value: accessToken, expiresAt, instance: story.instance };
    tell(story, messageOf('token', 'shopToServer', recorder.exchanges[0]));
  } catch (error) {
    tell(story, refusal(error, isReplay ? 'replayed' : 'refused', recorder));
  }
}

function refusal(error: unknown, kind: MessageKind, { exchanges }: Recorder): Message {
  if (!(error instanceof OAuthRefusal)) return messageOf('unanswered', 'shopToServer', exchanges.at(-1));
  return messageOf(kind, 'shopToServer', exchanges.at(-1), error.error);
}

/** Lets the payment API ask about a token. @param kinds what it is called when the token works, and when it doesn't */
export async function introspect(
  story: Story,
  payments: PaymentApi,
  token: Token,
  kinds: readonly [active: MessageKind, inactive: MessageKind] = ['allows', 'inactive'],
): Promise<void> {
  const recorder = new Recorder();
  const told = await payments.introspect(token.value, recorder.fetch).catch(() => null);
  if (told?.active === false && token === story.token) story.ended = true;
  const kind = told === null ? 'unanswered' : kinds[told.active ? 0 : 1];
  tell(story, messageOf(kind, 'paymentsToServer', recorder.exchanges[0]));
}

/** What became of the earlier token, now that there is another one. */
export async function lookAtEarlier(session: Session, story: Story, payments: PaymentApi): Promise<void> {
  if (session.earlier === null) return;
  const isSame = session.earlier.instance === story.instance;
  await introspect(story, payments, session.earlier, ['stillWorks', isSame ? 'annulled' : 'inactive']);
}

/** Hands the token and a payment to the payment API. */
export async function spend(story: Story, payments: PaymentApi, payment: Payment): Promise<void> {
  if (story.token === null) return;
  const recorder = new Recorder();
  const outcome = await payments.pay(story.token.value, payment, recorder.fetch).catch(() => null);
  const [asked] = recorder.exchanges;
  if (asked !== undefined) {
    const kind =
      outcome === null ? 'unanswered' : outcome.verdict === 'invalid_token' ? 'inactive' : 'allows';
    tell(story, messageOf(kind, 'paymentsToServer', asked));
  }
  if (outcome === null) return;
  const { verdict, right, spentBefore } = outcome;
  const result = {
    result: verdict,
    ...(right && { right }),
    ...(spentBefore && { spent_before: spentBefore }),
  };
  const received = { line: '', text: readableJson(result) };
  const sent = { line: '', fields: Object.entries(payment) };
  const kind = isPaid(verdict) ? 'paid' : 'notPaid';
  tell(story, messageOf(kind, 'shopToPayments', { sent, received }, verdict));
}

/** Gives the token back. It stays known here, so that one can see that it no longer works. */
export async function giveBack(story: Story, application: Application): Promise<void> {
  if (story.token === null) return;
  const recorder = new Recorder();
  try {
    await revoke(application, story.token.value, recorder.fetch);
    story.ended = true;
    tell(story, messageOf('givenBack', 'shopToServer', recorder.exchanges[0]));
  } catch (error) {
    tell(story, refusal(error, 'refused', recorder));
  }
}
