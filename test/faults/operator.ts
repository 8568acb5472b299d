import { setTimeout as sleep } from 'node:timers/promises';
import { parseToken } from '../../src/secrets/tokens.ts';
import { runAssent } from '../support/process/process.ts';
import { Browser } from './browser.ts';
import type { Dice } from './dice.ts';
import type { Asked } from './journal.ts';
import type { Population } from './population.ts';
import type { Site } from './site.ts';

type Task = Pick<Asked, 'act' | 'userId' | 'clientId' | 'mayBeIdle'> & { readonly args: readonly string[] };

const MAX_ASKED = 20;

/** An operator at a command line, who blocks, unblocks and revokes. */
export class Operator {
  readonly #site: Site;
  readonly #people: Population;
  readonly #dice: Dice;
  readonly #resourceServer: Browser;
  #commands = 0;

  constructor(site: Site, people: Population, dice: Dice) {
    this.#site = site;
    this.#people = people;
    this.#dice = dice;
    this.#resourceServer = new Browser(site, { name: 'resource server' }, dice);
  }

  async act(): Promise<void> {
    const { clientId } = this.#dice.pick(this.#people.clients);
    const { userId, login } = this.#dice.pick(this.#people.users);
    const action = this.#dice.weighed({ blockClient: 3, blockUser: 2, revoke: 3 });
    if (action === 'blockClient') return this.#blockForAWhile({ clientId }, 'client', clientId);
    if (action === 'blockUser') return this.#blockForAWhile({ userId }, 'user', login);
    const args = ['grant', 'revoke', '--login', login, '--client', clientId, '--yes'];
    await this.#run({ act: 'revokeByOperator', userId, clientId, args });
  }

  /** Ends only when it is unblocked: what is blocked for good is no load. */
  async #blockForAWhile(subject: Partial<Asked>, noun: string, id: string): Promise<void> {
    const mayBeIdle = !(await this.#run({ ...subject, act: 'block', args: [noun, 'block', id] }));
    if (!mayBeIdle) await this.#askForTokensOf(subject);
    await sleep(this.#dice.below(300));
    const name = this.#nextName();
    const unblock = { ...subject, mayBeIdle, act: 'unblock', args: [noun, 'unblock', id] } as const;
    while (!(await this.#run(unblock, name)));
  }

  /** The newest tokens of who is blocked: none may be accepted. */
  async #askForTokensOf(subject: Partial<Asked>): Promise<void> {
    const isTheirs = (token: string) => {
      const owner = this.#site.owners.get(parseToken('token', token).grantId ?? '');
      return (
        owner?.[subject.clientId === undefined ? 'userId' : 'clientId'] ===
        (subject.clientId ?? subject.userId)
      );
    };
    const tokens = [...this.#site.tokens].filter(isTheirs).slice(-MAX_ASKED);
    const asks = (token: string) =>
      this.#resourceServer.post('/oauth/introspect', { token }, { authorization: this.#people.resource });
    await Promise.allSettled(tokens.map(asks));
  }

  #nextName(): string {
    return `faults-${this.#commands++}`;
  }

  /** Several runs under one name are one act, of which one at most leaves a row. @returns whether it is done */
  async #run({ args, ...task }: Task, name = this.#nextName()): Promise<boolean> {
    const { during, journal, home } = this.#site;
    const askedAt = Date.now();
    const variables = { DATABASE_URL: home.ownerUrl, ASSENT_OPERATOR: name };
    const { code, stderr: why } = await runAssent([...args, '--json'], variables);
    const told = code === 0 ? 'done' : 'nothing';
    const asked = { ...task, actor: 'operator', during, form: name, ref: name, askedAt };
    journal.note({ ...asked, toldAt: Date.now(), told, status: null, why });
    return told === 'done';
  }
}
