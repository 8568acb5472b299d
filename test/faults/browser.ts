import { Agent, type Answer } from '../support/http/agent.ts';
import type { Dice } from './dice.ts';
import type { Asked } from './evidence.ts';
import type { Site } from './site.ts';
import { readOutcome, readRequest } from './wire.ts';

/** Longer than the 7 seconds within which the server promises an answer. */
const PATIENCE_MS = 20_000;

export class Unanswered extends Error {
  override readonly name = 'Unanswered';
}

/** A browser or an application behind a load balancer: it sends each request to either replica, and notes it in the journal. */
export class Browser extends Agent {
  readonly #site: Site;
  readonly #actor: Pick<Asked, 'actor' | 'userId'>;
  readonly #dice: Dice;

  /** @param actor with its user; an application and a resource server have none */
  constructor(site: Site, actor: Pick<Asked, 'actor' | 'userId'>, dice: Dice) {
    super(site.baseUrl);
    this.#site = site;
    this.#actor = actor;
    this.#dice = dice;
  }

  introspect(token: string): Promise<Answer> {
    return this.post('/oauth/introspect', { token }, { authorization: this.#site.resource });
  }

  override async send(url: string, init: Parameters<Agent['send']>[1]): Promise<Answer> {
    const { pathname, search } = new URL(url, this.baseUrl);
    const { during, owners, replicas, tokens } = this.#site;
    const { actor, userId } = this.#actor;
    const query = pathname === '/oauth/return' ? search : '';
    const fields = new URLSearchParams(typeof init.body === 'string' ? init.body : query);
    const asked = { actor, during, ...readRequest(pathname, fields, userId, owners) };
    for (const { front } of this.#dice.hits(0.5) ? replicas : replicas.toReversed()) {
      const note = { ...asked, askedAt: Date.now() };
      try {
        const signal = AbortSignal.timeout(PATIENCE_MS);
        const answer = await super.send(`http://localhost:${front}${pathname}${search}`, { ...init, signal });
        const { status, headers, body } = answer;
        const token = /"access_token":"([^"]+)"/.exec(body)?.[1];
        if (token !== undefined) tokens.add(token);
        const told = { ...readOutcome(asked.act, answer), toldAt: Date.now() };
        const ref = headers.get('x-request-id');
        this.#site.note({ ...note, ...told, status, ref, retryAfter: headers.get('retry-after') });
        return answer;
      } catch (error) {
        const why = reasonOf(error as Error);
        const told = why === 'ECONNREFUSED' ? 'unreached' : 'nothing';
        this.#site.note({ ...note, told, toldAt: Date.now(), status: null, ref: null, why });
        if (told === 'nothing') throw new Unanswered(why, { cause: error });
      }
    }
    throw new Unanswered('no replica takes a connection');
  }
}

function reasonOf(error: Error): string {
  const cause = error.cause as (Error & { code?: string; errors?: { code?: string }[] }) | undefined;
  return cause?.code ?? cause?.errors?.[0]?.code ?? cause?.message ?? error.message;
}
