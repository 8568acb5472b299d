import {
  type Application,
  authorizationRequest,
  exchange,
  newAttempt,
  OAuthRefusal,
  readAnswer,
  revoke,
} from '../../examples/oauthClient.mjs';
import { budgetOf, isPaid, type Payment, type PaymentApi, type Told, verdictOf } from './paymentApi.ts';
import { Recorder, readableJson } from './recorder.ts';
import { type Message, type MessageKind, type Session, type Story, type Token, tell } from './sessions.ts';

// The steps of Demo Shop with their messages. A real application takes the same steps and shows nothing.

type Fetch = typeof globalThis.fetch;

/** Begins a story, with the form for the browser to post. */
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
    added: 0,
  };
}

export function requestOf({ request }: Story, { server }: Application): Message {
  const headers = [['content-type', 'application/x-www-form-urlencoded']] as const;
  const sent = { line: `POST ${server}/oauth/authorize`, headers, fields: Object.entries(request) };
  return { kind: 'request', way: 'browserToServer', sent, received: null };
}

const KINDS_OF_ANSWERS: Readonly<Record<string, MessageKind>> = {
  access_denied: 'rejected',
  unasked_answer: 'unasked',
};

/** Takes the browser's answer. @returns true if there is a code to exchange */
export function takeAnswer(story: Story, application: Application, query: URLSearchParams): boolean {
  const sent = { line: `GET ${application.redirectUri}`, fields: [...query] };
  const answer = { way: 'browserToShop', sent, received: null } as const;
  if (story.messages.length === 0) tell(story, requestOf(story, application));
  try {
    story.code = readAnswer(query, story.answered ? null : story.attempt);
    tell(story, { kind: 'code', ...answer });
  } catch (error) {
    if (!(error instanceof OAuthRefusal)) throw error;
    const kind = KINDS_OF_ANSWERS[error.error] ?? 'refused';
    tell(story, { kind, ...answer });
    if (kind === 'unasked') return false; // the true answer may still come
  }
  story.answered = true;
  return story.code !== null;
}

/** Exchanges the code; a second time, as a thief would. */
export async function exchangeCode(story: Story, application: Application): Promise<void> {
  const { attempt, code, instance } = story;
  if (code === null) return;
  const send = (fetch: Fetch) => exchange(application, attempt, code, fetch);
  const refused = story.token === null ? 'refused' : 'replayed';
  const answer = await call(story, 'shopToServer', send, () => 'token', refused);
  if (answer === null) return;
  const expiresAt = new Date(Date.now() + answer.expiresIn * 1000);
  story.token = { value: answer.accessToken, expiresAt, instance };
}

/** Has the payment API introspect the story's token or an earlier one. @returns null without an answer */
export async function introspect(story: Story, payments: PaymentApi, token: Token): Promise<Told | null> {
  const send = (fetch: Fetch) => payments.introspect(token.value, fetch);
  const ended = token === story.token ? 'inactive' : 'annulled';
  const told = await call(story, 'paymentsToServer', send, ({ active }) => (active ? 'allows' : ended));
  if (token === story.token && told?.active === false) story.ended = true;
  return told;
}

/** Sends the token and a payment to the payment API, which has it judged first. */
export async function spend(
  story: Story,
  payments: PaymentApi,
  token: Token,
  payment: Payment,
): Promise<void> {
  const send = (fetch: Fetch) => payments.spend(token.value, payment, fetch);
  const judged = await call(story, 'paymentsToServer', send, ({ active }) =>
    active ? 'judged' : 'inactive',
  );
  if (judged === null) return;
  if (!judged.active) story.ended = true;
  story.budget = budgetOf(judged) ?? story.budget;
  const verdict = verdictOf(judged);
  const sent = { line: '', fields: Object.entries(payment) };
  const received = { line: '', text: readableJson({ result: verdict }) };
  const kind = isPaid(verdict) ? 'paid' : 'notPaid';
  tell(story, { kind, way: 'shopToPayments', sent, received, why: verdict });
}

/** Revokes the token, but keeps it to show that it no longer works. */
export async function giveBack(story: Story, application: Application, token: Token): Promise<void> {
  const send = (fetch: Fetch) => revoke(application, token.value, fetch);
  const answer = await call(story, 'shopToServer', send, () => 'givenBack');
  if (answer !== null) story.ended = true;
}

/** Sends a request and tells it. @returns null after a refusal or without an answer */
async function call<Answer>(
  story: Story,
  way: Message['way'],
  send: (fetch: Fetch) => Promise<Answer>,
  kindOf: (answer: Answer) => MessageKind,
  refused: MessageKind = 'refused',
): Promise<Answer | null> {
  const recorder = new Recorder();
  try {
    const answer = await send(recorder.fetch);
    tell(story, { kind: kindOf(answer), way, ...recorder.last });
    return answer;
  } catch (error) {
    const [kind, why] = error instanceof OAuthRefusal ? [refused, error.error] : (['unanswered'] as const);
    tell(story, { kind, way, ...recorder.last, why });
    return null;
  }
}
