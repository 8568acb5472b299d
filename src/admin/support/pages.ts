import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { OperatorError } from '../../rules/common/error.ts';
import { ENDPOINTS, type Endpoint } from '../endpoints.ts';
import type { AdminApi } from '../server.ts';
import { askFor, attempt, endpointNamed, formOf, type Given, givenBy, orNull } from './asking.ts';
import { addressOf, addressOfPage, idOf, listsOf, pageOf, verbsOf } from './related.ts';
import { search } from './search.ts';
import type { SignedIn } from './session.ts';
import { HOME, signInPages } from './signInPages.ts';
import { loadViews, type SupportContext } from './views.ts';

/** Longer than anything that is searched for. */
const MAX_SEARCHED = 200;
/** Rows of a list on its own page, and below what has them. */
const [ROWS, ROWS_BELOW] = ['50', '20'];
const RECENT_MS = 30 * 24 * 60 * 60 * 1_000;

/** The fields that are in the path, and the others. */
interface Asked {
  Params: Record<string, string>;
  Querystring: Record<string, string>;
}

const operatorOf = (request: FastifyRequest) => request.operator as SignedIn;

/** Adds `/support` to the operators' listener. */
export function addSupportPages(app: FastifyInstance, api: AdminApi, context: SupportContext): void {
  const views = loadViews(context);
  const { show, style } = views;
  const { admit, addSignIn } = signInPages(api, context, views);
  const config = { hasSession: true };

  async function showFound(request: FastifyRequest<Asked>, reply: FastifyReply) {
    const text = `${request.query.q ?? ''}`.trim().slice(0, MAX_SEARCHED);
    const found = text === '' ? null : await search(text, askFor(api, request, reply));
    return found?.at ? reply.redirect(found.at, 303) : show(reply, 200, 'search', { text, found });
  }

  /** A token is in no address. */
  async function find(request: FastifyRequest, reply: FastifyReply) {
    const text = formOf(request).get('q')?.trim() ?? '';
    if (!text.startsWith('assent_')) return reply.redirect(addressOf(HOME, { q: text }), 303);
    const endpoint = endpointNamed('tokens.show');
    const row = await askFor(api, request, reply)(endpoint, { token: text });
    return show(reply, 200, 'done', { endpoint, row });
  }

  const showThing = (endpoint: Endpoint) => async (request: FastifyRequest<Asked>, reply: FastifyReply) => {
    const { params: given, query } = request;
    const { now, role } = operatorOf(request);
    const ask = askFor(api, request, reply);
    const row = await ask(endpoint, given);
    const since = new Date(now.getTime() - RECENT_MS).toISOString();
    const lists = [];
    for (const list of listsOf(endpoint)) {
      const most = Object.entries({ since, limit: ROWS_BELOW }).filter(([name]) => list.fields.has(name));
      const answer = await orNull(ask(list, { ...given, ...Object.fromEntries(most) }));
      if (answer) lists.push({ list, items: answer.items });
    }
    const done = ENDPOINTS.find(({ name }) => name === query.done);
    return show(reply, 200, 'thing', {
      endpoint,
      given,
      row,
      lists,
      verbs: verbsOf(endpoint, row, role),
      done,
    });
  };

  const showList = (endpoint: Endpoint) => async (request: FastifyRequest<Asked>, reply: FastifyReply) => {
    const filter = Object.fromEntries(Object.entries(request.query).filter(([, value]) => value !== ''));
    const limit = endpoint.fields.has('limit') ? { limit: ROWS } : {};
    const answered = askFor(api, request, reply)(endpoint, { ...limit, ...filter, ...request.params });
    const { answer, status, problem } = await attempt(api, reply, answered);
    const verbs = verbsOf(endpoint, {}, operatorOf(request).role);
    return show(reply, status, 'list', {
      endpoint,
      given: request.params,
      filter,
      verbs,
      problem,
      ...answer,
    });
  };

  /** The form of a verb. @param about names the fields that its address gave */
  async function showForm(
    reply: FastifyReply,
    endpoint: Endpoint,
    given: Given,
    about: string[],
    more: object,
  ) {
    const page = pageOf(given, about);
    const row = page && (await orNull(askFor(api, reply.request, reply)(page.endpoint, page.given)));
    return show(reply, reply.statusCode, 'act', { endpoint, given, about, page, row, ...more });
  }
  const showVerb = (endpoint: Endpoint) => (request: FastifyRequest<Asked>, reply: FastifyReply) => {
    const given = givenBy(endpoint, Object.entries(request.query));
    return showForm(reply, endpoint, given, Object.keys(given), { problem: null, note: '' });
  };
  const act = (endpoint: Endpoint) => async (request: FastifyRequest, reply: FastifyReply) => {
    const form = formOf(request);
    const [given, note] = [givenBy(endpoint, form), form.get('note')?.trim() ?? ''];
    const asked = askFor(api, request, reply)(endpoint, given, note, form.has('confirm'));
    const { answer: row, status, problem } = await attempt(api, reply, asked);
    if (row === null)
      return showForm(reply.code(status), endpoint, given, (form.get('about') ?? '').split(','), {
        problem,
        note,
      });
    const isLast = endpoint.isMade || endpoint.method === 'DELETE' || row.warnings !== undefined;
    const page = isLast || endpoint.operation.effect === 'reads' ? undefined : pageOf({ ...given, ...row });
    if (page === undefined) return show(reply, 200, 'done', { endpoint, row });
    return reply.redirect(addressOfPage(page, { done: endpoint.name }), 303);
  };

  app.get(style.path, { config }, (_request, reply) =>
    reply
      .headers({ 'content-type': 'text/css; charset=utf-8', 'cache-control': 'max-age=31536000' })
      .send(style.css),
  );
  app.register(async (pages) => {
    const urlEncoded = 'application/x-www-form-urlencoded';
    pages.addContentTypeParser(urlEncoded, { parseAs: 'string' }, (_request, body, done) =>
      done(null, new URLSearchParams(`${body}`)),
    );
    pages.addHook('preHandler', admit);
    pages.setErrorHandler<FastifyError>((error, request, reply) => {
      const { status, detail } = api.noteProblem(error, request, reply);
      return show(reply, status, 'error', { detail });
    });
    pages.get(HOME, { config }, showFound);
    pages.post(HOME, { config }, find);
    addSignIn(pages);
    for (const endpoint of ENDPOINTS) {
      const [verb, page] = [`${HOME}/do/${endpoint.name}`, endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1')];
      if (endpoint.method !== 'GET')
        pages.get(verb, { config }, showVerb(endpoint)).post(verb, { config }, act(endpoint));
      else if (endpoint.operation.isList)
        pages.get(page.replace('/v1', HOME), { config }, showList(endpoint));
      else if (idOf(endpoint)) pages.get(page.replace('/v1', HOME), { config }, showThing(endpoint));
    }
    pages.all(`${HOME}/*`, { config }, () => {
      throw new OperatorError('no_address', 'There is no such page.');
    });
  });
}
