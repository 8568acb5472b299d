import { Agent, type Answer } from '../support/http/agent.ts';
import type { Dice } from './dice.ts';
import type { Asked } from './journal.ts';
import type { Site } from './site.ts';
import { whatIsAsked, whatIsTold } from './wire.ts';

type Init = Parameters<Agent['send']>[1];

/** A caller gives up then: the server promises an answer within 7 seconds. */
const PATIENCE_MS = 20_000;

export class Unanswered extends Error {
  override readonly name = 'Unanswered';
}

/** A browser or an application in front of a balancer: a request goes to either replica, and its answer into the journal. */
export class Browser extends Agent {
  readonly #site: Site;
  readonly #actor: Pick<Asked, 'actor' | 'userId'>;
  readonly #dice: Dice;

  /** @param actor with the user whose browser it is; an application and a resource server have none */
  constructor(site: Site, actor: Pick<Asked, 'actor' | 'userId'>, dice: Dice) {
    super(site.baseUrl);
    this.#site = site;
    this.#actor = actor;
    this.#dice = dice;
  }

  override async send(url: string, init: Init): Promise<Answer> {
    const { pathname, search } = new URL(url, this.baseUrl);
    const { replicas } = this.#site;
    for (const { front } of this.#dice.hits(0.5) ? replicas : replicas.toReversed()) {
      const answer = await this.#sendTo(front, pathname, search, init);
      if (answer !== null) return answer;
    }
    throw new Unanswered('no replica takes a connection');
  }

  /** @returns null where nobody took the connection @throws {Unanswered} */
  async #sendTo(port: number, path: string, search: string, init: Init): Promise<Answer | null> {
    const { during, owners, tokens } = this.#site;
    const { actor, userId } = this.#actor;
    const query = path === '/return' ? search : '';
    const fields = new URLSearchParams(typeof init.body === 'string' ? init.body : query);
    const asked = whatIsAsked(path, fields, userId, owners);
    const note = { actor, during, askedAt: Date.now(), ...asked };
    try {
      const signal = AbortSignal.timeout(PATIENCE_MS);
      const answer = await super.send(`http://localhost:${port}${path}${search}`, { ...init, signal });
      const { status, headers, body } = answer;
      const token = /"access_token":"([^"]+)"/.exec(body)?.[1];
      if (token !== undefined) tokens.add(token);
      const ref = headers.get('x-request-id');
      const told = { ...whatIsTold(asked.act, answer), toldAt: Date.now() };
      this.#site.note({ ...note, ...told, status, ref, retryAfter: headers.get('retry-after') });
      return answer;
    } catch (error) {
      const why = whyUnanswered(error as Error);
      const told = why === 'ECONNREFUSED' ? 'unreached' : 'nothing';
      this.#site.note({ ...note, told, toldAt: Date.now(), status: null, ref: null, why });
      if (told === 'unreached') return null;
      throw new Unanswered(why, { cause: error });
    }
  }
}

function whyUnanswered(error: Error): string {
  const cause = error.cause as (Error & { code?: string; errors?: { code?: string }[] }) | undefined;
  return cause?.code ?? cause?.errors?.[0]?.code ?? cause?.message ?? error.message;
}
