import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Payment, PaymentApi } from './paymentApi.ts';
import { shortened } from './recorder.ts';
import { type Session, type Sessions, type Story, TAMPERINGS } from './sessions.ts';
import type { DemoSettings } from './settings.ts';
import * as story from './story.ts';
import { show } from './views.ts';
import { ACCOUNT_TYPES, FIRST_WISH, PAYING, parseWish, SEEING, SOURCES, scopeOf } from './wish.ts';

/** What the steps work with. */
interface Demo {
  readonly settings: DemoSettings;
  readonly sessions: Sessions;
  readonly payments: PaymentApi;
}

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
    const session = sessions.find(request.cookies[SESSION_COOKIE]);
    const wish = session?.wish ?? FIRST_WISH;
    const data = { wish, composed: scopeOf(wish), ...COMPOSING, users, server: application.server };
    return show(request, reply, 'home', { ...data, hasStory: session !== null && session.story !== null });
  });
  // The script of the page asks what the chips make.
  app.post<{ Body: URLSearchParams }>('/scope', async ({ body }, reply) => {
    body.set('scope', body.get('composed') ?? '');
    return reply.type('text/plain; charset=utf-8').send(parseWish(body).scope);
  });
  app.post<{ Body: URLSearchParams }>('/ask', async (request, reply) => {
    const session = sessionOf(request, reply, sessions);
    const { body } = request;
    const isComposing = body.get('do') === 'compose';
    if (isComposing) body.set('scope', body.get('composed') ?? '');
    session.wish = parseWish(body);
    if (isComposing) return reply.redirect('/#scope', 303);
    story.ask(session, application);
    return reply.redirect('/request', 303);
  });
}

function addRequest(app: FastifyInstance, demo: Demo): void {
  const { application } = demo.settings;
  app.get('/request', async (request, reply) => {
    const told = storyOf(request, demo);
    if (told === null || told.answered) return reply.redirect('/', 303);
    const message = story.requestMessage(told, application);
    const action = `${application.server}/oauth/authorize`;
    return show(request, reply, 'request', {
      message,
      action,
      fields: told.request,
      tampered: told.tampered,
    });
  });
  app.post<{ Body: URLSearchParams }>('/tamper', async (request, reply) => {
    const told = storyOf(request, demo);
    const what = TAMPERINGS.find((name) => name === request.body.get('what')) ?? null;
    if (told !== null && !told.answered) story.tamper(told, application, what);
    return reply.redirect('/request', 303);
  });
  app.post('/again', async (request, reply) => {
    const session = sessionOf(request, reply, demo.sessions);
    story.ask(session, application);
    return reply.redirect('/request', 303);
  });
}

function addStory(app: FastifyInstance, demo: Demo): void {
  const { settings, payments } = demo;
  const { application } = settings;
  app.get('/callback', async (request, reply) => {
    const session = demo.sessions.find(request.cookies[SESSION_COOKIE]);
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
    const session = demo.sessions.find(request.cookies[SESSION_COOKIE]);
    if (!session?.story || session.story.messages.length === 0) return reply.redirect('/', 303);
    return show(request, reply, 'story', storyData(session, session.story, settings));
  });

  const step = (
    path: string,
    take: (session: Session, told: Story, body: URLSearchParams) => Promise<void>,
  ) =>
    app.post<{ Body: URLSearchParams }>(path, async (request, reply) => {
      const session = demo.sessions.find(request.cookies[SESSION_COOKIE]);
      if (!session?.story) return reply.redirect('/', 303);
      const { story } = session;
      await takeStep(story, () => take(session, story, request.body));
      return reply.redirect(placeOf(story), 303);
    });

  step('/exchange', async (_session, told) => {
    if (!told.exchanged) await story.exchangeCode(told, application);
  });
  step('/replay', async (_session, told) => {
    if (!told.exchanged || told.token === null) return;
    await story.exchangeCode(told, application);
    await story.introspect(told, payments, told.token);
  });
  step('/introspect', async ({ earlier }, told, body) => {
    const token = body.get('which') === 'earlier' ? earlier : told.token;
    if (token !== null) await story.introspect(told, payments, token);
  });
  step('/spend', (_session, told, body) => story.spend(told, payments, paymentOf(body)));
  step('/give-back', (_session, told) => story.giveBack(told, application));
}

/** Takes a step, and remembers which messages are its own. Of a payment that is how it ended, without what was asked for it. */
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

function storyData({ earlier }: Session, told: Story, { application, timeZone }: DemoSettings) {
  const { messages, newest, code, exchanged, token, ended } = told;
  const age = code === null ? 0 : Math.floor((Date.now() - code.cameAt.getTime()) / 1000);
  return {
    messages,
    newest,
    server: application.server,
    secondsLeft: code === null || exchanged ? null : Math.max(0, MAX_CODE_SECONDS - age),
    token: token && { shown: shortened(token.value), expiresAt: token.expiresAt, ended },
    timeZone,
    hasEarlier: earlier !== null,
    payTo: ['shop', ...ACCOUNT_TYPES],
    sources: SOURCES,
  };
}

function storyOf(request: FastifyRequest, { sessions }: Demo): Story | null {
  return sessions.find(request.cookies[SESSION_COOKIE])?.story ?? null;
}

/** The session of this browser, a new one if it has none. */
function sessionOf(request: FastifyRequest, reply: FastifyReply, sessions: Sessions): Session {
  const found = sessions.find(request.cookies[SESSION_COOKIE]);
  if (found !== null) return found;
  const [id, session] = sessions.open();
  reply.setCookie(SESSION_COOKIE, id, { path: '/', httpOnly: true, sameSite: 'lax' });
  return session;
}
