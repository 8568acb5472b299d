import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { progressOf, tick } from './lessons.ts';
import { show } from './pages.ts';
import { PAYEES, type Payment, type PaymentApi, SOURCES } from './paymentApi.ts';
import { shortened } from './recorder.ts';
import type { Session, Sessions, Story, Token } from './sessions.ts';
import type { DemoSettings } from './settings.ts';
import * as story from './story.ts';
import { EXAMPLES, FIRST_WISH, parseWish, textOf, type Wish } from './wish.ts';

interface Demo extends DemoSettings {
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

function addComposing(app: FastifyInstance, { application, users, register, sessions }: Demo): void {
  app.get('/', async (request, reply) => {
    const session = findSession(request, sessions);
    const { wish = FIRST_WISH, story = null, own = {} } = session ?? {};
    const hasStory = Boolean(story?.messages.length);
    const data = { wish, examples: Object.keys(EXAMPLES), progress: progressOf(session), users, own };
    return show(request, reply, 'home', { ...data, hasStory });
  });
  const asking = (path: string, wishOf: (session: Session, body: Post['Body']) => Wish) =>
    app.post<Post>(path, async (request, reply) => {
      const session = openSession(request, reply, sessions);
      session.wish = wishOf(session, request.body);
      story.ask(session, application);
      return reply.redirect('/request', 303);
    });
  asking('/connect', () => FIRST_WISH); // others may not lead to the lessons
  asking('/again', ({ wish }) => wish);
  asking('/ask', (_session, body) => parseWish(body));

  app.post<Post>('/register', async (request, reply) => {
    const session = openSession(request, reply, sessions);
    const own = { name: textOf(request.body, 'name'), redirectUri: textOf(request.body, 'redirect_uri') };
    session.own = await register(own.name, own.redirectUri).then(
      (registered) => ({ ...own, ...registered }),
      ({ message }: Error) => ({ ...own, problem: message }),
    );
    return reply.redirect('/#own', 303);
  });
}

function addRequest(app: FastifyInstance, { application, users, sessions }: Demo): void {
  app.get('/request', async (request, reply) => {
    const told = findSession(request, sessions)?.story;
    if (!told || told.answered) return reply.redirect('/', 303);
    const action = `${application.server}/oauth/authorize`;
    const message = story.requestOf(told, application);
    return show(request, reply, 'request', { message, action, fields: told.request, users });
  });
}

function addStory(app: FastifyInstance, demo: Demo): void {
  const { url, application, currency, sessions, payments } = demo;
  app.get('/callback', async (request, reply) => {
    const session = findSession(request, sessions);
    const told = session?.story;
    if (!session || !told) return show(request, reply.code(400), 'notice');
    await takeStep(session, told, async () => {
      const { searchParams } = new URL(request.url, url);
      if (!story.takeAnswer(told, application, searchParams)) return;
      await story.exchangeCode(told, application);
      const { earlier } = session;
      if (earlier?.instance === told.instance) await story.introspect(told, payments, earlier);
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

  const step = (path: string, take: (told: Story, token: Token, body: Post['Body']) => Promise<unknown>) =>
    app.post<Post>(path, async (request, reply) => {
      const session = findSession(request, sessions);
      const { story: told = null } = session ?? {};
      const token = told?.token;
      if (session && told && token) await takeStep(session, told, () => take(told, token, request.body));
      return reply.redirect('/story', 303);
    });
  step('/replay', async (told, token) => {
    await story.exchangeCode(told, application);
    await story.introspect(told, payments, token);
  });
  step('/introspect', (told, token) => story.introspect(told, payments, token));
  step('/spend', (told, token, body) => story.spend(told, payments, token, { ...paymentOf(body), currency }));
  step('/give-back', (told, token) => story.giveBack(told, application, token));
}

/** Takes a step and ticks the lesson that its messages complete. */
async function takeStep(session: Session, told: Story, take: () => Promise<unknown>): Promise<void> {
  const { ended } = told;
  told.added = 0;
  await take();
  tick(session, told.messages.slice(0, told.added), ended);
}

function paymentOf(form: URLSearchParams): Omit<Payment, 'currency'> {
  const text = (name: keyof typeof FIRST_PAYMENT) => textOf(form, name, FIRST_PAYMENT[name]);
  const to = PAYEES.find((kind) => kind === form.get('to')) ?? 'shop';
  const source = SOURCES.find((name) => name === form.get('source')) ?? 'wallet';
  return { to, payee: text('payee'), amount: text('amount').replace(',', '.'), source };
}

function findSession({ cookies }: FastifyRequest, sessions: Sessions): Session | null {
  return sessions.find(cookies[SESSION_COOKIE]);
}

function openSession(request: FastifyRequest, reply: FastifyReply, sessions: Sessions): Session {
  const found = findSession(request, sessions);
  if (found !== null) return found;
  const [id, session] = sessions.open();
  reply.setCookie(SESSION_COOKIE, id, { path: '/', httpOnly: true, sameSite: 'lax' });
  return session;
}
