import { setTimeout as sleep } from 'node:timers/promises';
import { Unanswered } from './browser.ts';
import { Dice } from './dice.ts';
import { operator } from './operator.ts';
import { person } from './person.ts';
import type { Population } from './population.ts';
import type { Site } from './site.ts';

const MAX_PAUSE_MS = 60;
const OPERATORS_PAUSE_MS = 1_500;

/** All drivers of a site: they act until they are told to pause, and go on when told so. */
export class Load {
  /** What drivers gave up an action for, in the words of a page, and how often. */
  readonly gaveUp = new Map<string, number>();
  readonly #drivers: (() => Promise<void>)[];
  #running: Promise<unknown> = Promise.resolve();
  #paused = true;

  constructor(site: Site, people: Population, seed: string) {
    const persons = people.users.flatMap((user, index) =>
      ['a', 'b'].map((browser) => {
        const name = `user ${index}, browser ${browser}`;
        const dice = new Dice(`${seed} ${name}`);
        return this.#driver(person(site, people, user, name, dice), dice, MAX_PAUSE_MS);
      }),
    );
    const dice = new Dice(`${seed} operator`);
    this.#drivers = [...persons, this.#driver(operator(site, people, dice), dice, OPERATORS_PAUSE_MS)];
  }

  go(): void {
    this.#paused = false;
    this.#running = Promise.all(this.#drivers.map((drive) => drive()));
  }

  /** Resolves when everybody has the last answer. @throws what no page and no broken connection explains */
  async pause(): Promise<void> {
    this.#paused = true;
    await this.#running;
  }

  #driver(act: () => Promise<void>, dice: Dice, pauseMs: number): () => Promise<void> {
    return async () => {
      for (; !this.#paused; await sleep(dice.below(pauseMs))) {
        await act().catch((error: unknown) => {
          if (!(error instanceof Error) || error instanceof TypeError) throw error;
          const why = error instanceof Unanswered ? error.message : error.message.slice(0, 60);
          this.gaveUp.set(why, (this.gaveUp.get(why) ?? 0) + 1);
        });
      }
    };
  }
}
