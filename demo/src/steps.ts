import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { show } from './pages.ts';
import type { Payment, PaymentApi } from './paymentApi.ts';
import { shortened } from './recorder.ts';
import { type Session, type Sessions, type Story, TAMPERINGS } from './sessions.ts';
import type { DemoSettings } from './settings.ts';
import * as story from './story.ts';
import { ACCOUNT_TYPES, FIRST_WISH, PAYING, parseWish, SEEING, SOURCES, scopeOf } from './wish.ts';

interface Demo {
  readonly settings: DemoSettings;
  readonly sessions: Sessions;
  readonly payments: PaymentApi;
}

type Post = { Body: URLSearchParams };

const SESSION_COOKIE = 'demo_session';
/** The contract says "less than 1 minute"; the application knows no more of it. */
const MAX_CODE_SECONDS = 60;
const MAX_PAYEE_CHARACTERS = 128;
const COMPOSING = { seeing: SEEING, paying: PAYING, sources: SOURCES, types: ACCOUNT_TYPES };

/** Adds the pages, and the steps between them: each button posts to a path, which ends in a 303 to a page. */
export function addSteps(app: FastifyInstance, demo: Demo): void {
  addComposing(app, demo);
  addRequest(app, demo);
  addStory(app, demo);
}

function addComposing(app: FastifyInstance, { settings, sessions }: Demo): void {
  const { application, users } = settings;
  app.get('/', async (request, reply) => {
    const { wish, story } = findSession(request, sessions) ?? { wish: FIRST_WISH, story: null };
    const data = { wish, composed: scopeOf(wish), ...COMPOSING, users };
    return show(request, reply, 'home', { ...data, hasStory: story !== null });
  });
  // For the page's script, after each change of a chip.
  app.post<Post>('/scope', async ({ body }, reply) => {
    body.set('scope', body.get('composed') ?? '');
    return reply.type('text/plain; charset=utf-8').send(parseWish(body).scope);
  });
  app.post<Post>('/ask', async (request, reply) => {
    const { body } = request;
    const session = findSession(request, sessions) ?? openSession(reply, sessions);
    const isComposing = body.get('do') === 'compose';
    if (isComposing) body.set('scope', body.get('composed') ?? '');
    session.wish = parseWish(body);
    if (isComposing) return reply.redirect('/#scope', 303);
    story.ask(session, application);
    return reply.redirect('/request', 303);
  });
  app.post('/again', async (request, reply) => {
    const session = findSession(request, sessions);
    if (session !== null) story.ask(session, application);
    return reply.redirect('/request', 303);
  });
}

function addRequest(app: FastifyInstance, { settings: { application }, sessions }: Demo): void {
  app.get('/request', async (request, reply) => {
    const told = findSession(request, sessions)?.story;
    if (!told || told.answered) return reply.redirect('/', 303);
    const action = `${application.server}/oauth/authorize`;
    const message = { kind: 'request', way: 'browserToServer', ...story.requestOf(told, application) };
    const data = { message, action, fields: told.request, tampered: told.tampered };
    return show(request, reply, 'request', data);
  });
  app.post<Post>('/tamper', async (request, reply) => {
    const told = findSession(request, sessions)?.story;
    const what = TAMPERINGS.find((name) => name === request.body.get('what')) ?? null;
    if (told && !told.answered) story.tamper(told, application, what);
    return reply.redirect('/request', 303);
  });
}

function addStory(app: FastifyInstance, { settings, sessions, payments }: Demo): void {
  const { application } = settings;
  app.get('/callback', async (request, reply) => {
    const session = findSession(request, sessions);
    const told = session?.story;
    if (!session || !told) return show(request, reply.code(400), 'notice', { notice: 'unasked' });
    await takeStep(told, async () => {
      const { searchParams } = new URL(request.url, settings.url);
      if (!story.takeAnswer(told, application, searchParams)) return;
      if (session.wish.atOnce) await story.exchangeCode(told, application);
      await story.lookAtEarlier(session, told, payments);
    });
    return reply.redirect(placeOf(told), 303); // away from the address that has the code in it
  });

  app.get('/story', async (request, reply) => {
    const { story: told = null, earlier = null } = findSession(request, sessions) ?? {};
    if (!told?.messages.length) return reply.redirect('/', 303);
    const paying = { payTo: ['shop', ...ACCOUNT_TYPES], sources: SOURCES };
    const token = told.token && { ...told.token, value: shortened(told.token.value) };
    const data = { ...told, token, secondsLeft: secondsLeft(told), hasEarlier: earlier !== null, ...paying };
    return show(request, reply, 'story', data);
  });

  const step = (path: string, take: (told: Story, session: Session, body: Post['Body']) => Promise<void>) =>
    app.post<Post>(path, async (request, reply) => {
      const session = findSession(request, sessions);
      const told = session?.story;
      if (!session || !told) return reply.redirect('/', 303);
      await takeStep(told, () => take(told, session, request.body));
      return reply.redirect(placeOf(told), 303);
    });

  step('/exchange', async (told) => {
    if (!told.exchanged) await story.exchangeCode(told, application);
  });
  step('/replay', async (told) => {
    if (!told.exchanged || told.token === null) return;
    await story.exchangeCode(told, application);
    await story.introspect(told, payments, told.token);
  });
  step('/introspect', async (told, { earlier }, body) => {
    const token = body.get('which') === 'earlier' ? earlier : told.token;
    if (token !== null) await story.introspect(told, payments, token);
  });
  step('/spend', (told, _session, body) => story.spend(told, payments, paymentOf(body)));
  step('/give-back', (told) => story.giveBack(told, application));
}

/** Takes a step, and notes its first message: of a payment the outcome, not the introspection before it. */
async function takeStep(told: Story, take: () => Promise<void>): Promise<void> {
  const known = new Set(told.messages);
  await take();
  const added = told.messages.filter((message) => !known.has(message));
  const first = added.find(({ way }) => way === 'shopToPayments') ?? added[0];
  if (first !== undefined) told.newest = told.messages.indexOf(first);
}

/** The page of the story, at the first message of the last step. */
function placeOf({ newest }: Story): string {
  return newest === 0 ? '/story' : `/story#m${newest + 1}`;
}

function paymentOf(form: URLSearchParams): Payment {
  const text = (name: string) => (form.get(name) ?? '').trim().slice(0, MAX_PAYEE_CHARACTERS);
  const to = ACCOUNT_TYPES.find((type) => type === form.get('to')) ?? 'shop';
  const source = SOURCES.find((name) => name === form.get('source')) ?? 'wallet';
  return { to, payee: text('payee'), amount: text('amount').replace(',', '.'), source };
}

/** @returns null when no code waits for its exchange */
function secondsLeft({ code, exchanged }: Story): number | null {
  if (code === null || exchanged) return null;
  return Math.max(0, MAX_CODE_SECONDS - Math.floor((Date.now() - code.cameAt.getTime()) / 1000));
}

/** The session of this browser, if it has one. */
function findSession({ cookies }: FastifyRequest, sessions: Sessions): Session | null {
  return sessions.find(cookies[SESSION_COOKIE]);
}

function openSession(reply: FastifyReply, sessions: Sessions): Session {
  const [id, session] = sessions.open();
  reply.setCookie(SESSION_COOKIE, id, { path: '/', httpOnly: true, sameSite: 'lax' });
  return session;
}
