import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { progressOf, tick } from './lessons.ts';
import { show } from './pages.ts';
import { PAYEES, type Payment, type PaymentApi, SOURCES } from './paymentApi.ts';
import { shortened } from './recorder.ts';
import type { Session, Sessions, Story } from './sessions.ts';
import type { DemoSettings } from './settings.ts';
import * as story from './story.ts';
import { EXAMPLES, FIRST_WISH, parseWish } from './wish.ts';

interface Demo {
  readonly settings: DemoSettings;
  readonly sessions: Sessions;
  readonly payments: PaymentApi;
}

type Post = { Body: URLSearchParams };

const SESSION_COOKIE = 'demo_session';
const FIRST_PAYMENT = { payee: '337', amount: '3000' };

/** Adds the pages and the steps between them: each button posts to a path, which redirects (303) to a page. */
export function addSteps(app: FastifyInstance, demo: Demo): void {
  addComposing(app, demo);
  addRequest(app, demo);
  addStory(app, demo);
}

function addComposing(app: FastifyInstance, { settings, sessions }: Demo): void {
  const { application, users } = settings;
  app.get('/', async (request, reply) => {
    const session = findSession(request, sessions);
    const { wish = FIRST_WISH, story = null, own = {} } = session ?? {};
    const data = { wish, examples: Object.keys(EXAMPLES), progress: progressOf(session), users, own };
    return show(request, reply, 'home', { ...data, hasStory: story !== null });
  });
  app.post<Post>('/ask', async (request, reply) => {
    const session = findSession(request, sessions) ?? openSession(reply, sessions);
    session.wish = parseWish(request.body);
    story.ask(session, application);
    return reply.redirect('/request', 303);
  });
  app.post<Post>('/register', async (request, reply) => {
    const session = findSession(request, sessions) ?? openSession(reply, sessions);
    const [name = '', redirectUri = ''] = ['name', 'redirect_uri'].map((field) =>
      request.body.get(field)?.trim(),
    );
    session.own = await settings.register(name, redirectUri).then(
      (registered) => ({ name, redirectUri, registered }),
      ({ message }: Error) => ({ name, redirectUri, problem: message }),
    );
    return reply.redirect('/#own', 303);
  });
  for (const path of ['/connect', '/again']) {
    app.post(path, async (request, reply) => {
      const session = findSession(request, sessions) ?? openSession(reply, sessions);
      if (path === '/connect') session.wish = FIRST_WISH; // others may not lead to the lessons
      story.ask(session, application);
      return reply.redirect('/request', 303);
    });
  }
}

function addRequest(app: FastifyInstance, { settings, sessions }: Demo): void {
  const { application, users } = settings;
  app.get('/request', async (request, reply) => {
    const told = findSession(request, sessions)?.story;
    if (!told || told.answered) return reply.redirect('/', 303);
    const action = `${application.server}/oauth/authorize`;
    const message = { kind: 'request', way: 'browserToServer', ...story.requestOf(told, application) };
    const data = { message, action, fields: told.request, users };
    return show(request, reply, 'request', data);
  });
}

function addStory(app: FastifyInstance, { settings, sessions, payments }: Demo): void {
  const { application } = settings;
  app.get('/callback', async (request, reply) => {
    const session = findSession(request, sessions);
    const told = session?.story;
    if (!session || !told) return show(request, reply.code(400), 'notice');
    await takeStep(session, told, async () => {
      const { searchParams } = new URL(request.url, settings.url);
      if (!story.takeAnswer(told, application, searchParams)) return;
      await story.exchangeCode(told, application);
      await story.lookAtEarlier(session, told, payments);
    });
    return reply.redirect('/story', 303); // away from the address that contains the code
  });

  app.get('/story', async (request, reply) => {
    const session = findSession(request, sessions);
    const told = session?.story;
    if (!told?.messages.length) return reply.redirect('/', 303);
    const paying = { payTo: PAYEES, sources: SOURCES, first: FIRST_PAYMENT };
    const token = told.token && { ...told.token, value: shortened(told.token.value) };
    const data = { ...told, token, progress: progressOf(session), ...paying };
    return show(request, reply, 'story', data);
  });

  const step = (path: string, take: (told: Story, body: Post['Body']) => Promise<void>) =>
    app.post<Post>(path, async (request, reply) => {
      const session = findSession(request, sessions);
      const told = session?.story;
      if (!session || !told) return reply.redirect('/', 303);
      await takeStep(session, told, () => take(told, request.body));
      return reply.redirect('/story', 303);
    });

  step('/replay', async (told) => {
    if (told.token === null) return;
    await story.exchangeCode(told, application, 'replayed');
    await story.introspect(told, payments, told.token);
  });
  step('/introspect', async (told) => {
    if (told.token !== null) await story.introspect(told, payments, told.token);
  });
  step('/spend', (told, body) => story.spend(told, payments, paymentOf(body)));
  step('/give-back', (told) => story.giveBack(told, application));
}

/** Takes a step and notes its first message; for a payment that is the outcome, not the introspection. */
async function takeStep(session: Session, told: Story, take: () => Promise<void>): Promise<void> {
  const { ended } = told;
  const known = new Set(told.messages);
  await take();
  const added = told.messages.filter((message) => !known.has(message));
  tick(session, added, ended);
  const first = added.find(({ way }) => way === 'shopToPayments') ?? added[0];
  if (first !== undefined) told.newest = told.messages.indexOf(first);
}

function paymentOf(form: URLSearchParams): Payment {
  const text = (name: keyof typeof FIRST_PAYMENT) => (form.get(name) ?? FIRST_PAYMENT[name]).trim();
  const to = PAYEES.find((kind) => kind === form.get('to')) ?? 'shop';
  const source = SOURCES.find((name) => name === form.get('source')) ?? 'wallet';
  return { to, payee: text('payee'), amount: text('amount').replace(',', '.'), source };
}

function findSession({ cookies }: FastifyRequest, sessions: Sessions): Session | null {
  return sessions.find(cookies[SESSION_COOKIE]);
}

function openSession(reply: FastifyReply, sessions: Sessions): Session {
  const [id, session] = sessions.open();
  reply.setCookie(SESSION_COOKIE, id, { path: '/', httpOnly: true, sameSite: 'lax' });
  return session;
}
