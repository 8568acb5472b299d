import type { Dice } from '../faults/dice.ts';
import { createClient } from '../support/registrations.ts';
import { type Clock, DAY, HOUR } from './clock.ts';
import { Comparison, inParallel, until } from './comparison.ts';
import { measureDisk } from './disk.ts';
import { dayOfUpgrade, Events, isUnmaintained } from './events.ts';
import { Installation } from './installation.ts';
import { type Application, Model, type Person, type Token } from './model.ts';
import { dayOf, People } from './people.ts';
import { type Fault, LONG_TOKENS_SQL, PLANTED } from './planted.ts';

export interface Settings {
  readonly months: number;
  readonly people: number;
  readonly fault: Fault | undefined;
  readonly print: (line: string) => void;
  /** The first month, such as 2026-12; events of earlier days don't happen. */
  readonly begin: string;
}

const APPLICATIONS = 5;
/** Half of the people come in the first months: their tokens end in masses. */
const MONTHS_OF_ARRIVAL = 4;
/** One of so many does something on a day, besides those who come. */
const PEOPLE_FOR_AN_ACT = 1_200;
/** From one `assent maintain` to the next, which takes most of the time of a calm day. */
const DAYS_FOR_MAINTAIN = 3;
/** Tokens that are asked for at the end of a month, besides those that changed. */
const SAMPLE = 150;

/** The life of an installation, from the first migration on. */
export class Life {
  readonly #clock: Clock;
  readonly #dice: Dice;
  readonly #settings: Settings;
  readonly #at: Installation;
  readonly #model = new Model();
  readonly #people: People;
  readonly #comparison: Comparison;
  readonly #events: Events;
  readonly #applications: Application[] = [];
  #changed = new Set<Token>();
  /** People that are still to come today. */
  #awaited = 0;
  /** What people do on a day; replaced each day. */
  #act = async () => {};

  static async begin(clock: Clock, dice: Dice, settings: Settings): Promise<Life> {
    clock.skew('second', 0);
    clock.set(Date.parse(`${settings.begin}-01`));
    // A planted fault is in the current release.
    const isFirst = settings.fault === undefined && `${settings.begin}-01` < dayOfUpgrade;
    const life = new Life(clock, dice, settings, await Installation.open(clock, settings.fault, isFirst));
    await life.#events.giveOperatorToken();
    await life.#register();
    await life.#people.importUsers(settings.people);
    if (settings.fault === 'longTokens') await life.#at.postgres.run(LONG_TOKENS_SQL);
    return life;
  }

  private constructor(clock: Clock, dice: Dice, settings: Settings, at: Installation) {
    this.#clock = clock;
    this.#dice = dice;
    this.#settings = settings;
    this.#at = at;
    this.#people = new People(at, this.#model, dice);
    this.#comparison = new Comparison(at, this.#model, this.#people, settings.print);
    this.#events = new Events({
      at,
      model: this.#model,
      people: this.#people,
      comparison: this.#comparison,
      applications: this.#applications,
      print: settings.print,
      act: () => this.#act(),
    });
  }

  get findings() {
    return this.#comparison.findings;
  }

  /** Ends early when a planted fault is found. */
  async live(): Promise<void> {
    const { fault, print, months, begin } = this.#settings;
    const sought = fault && PLANTED[fault].rule;
    const began = performance.now();
    for (let month = 0; month < months; month += 1) {
      const [first, next] = [monthsAfter(begin, month), monthsAfter(begin, month + 1)];
      if (fault === 'silentMonth' && month === 2) await this.#at.stopNotify();
      if (fault === 'silentMonth' && month === 3) await this.#at.startNotify();
      for (let day = first; day < next; day += DAY) await this.#day(day, month, (next - first) / DAY);
      await this.#look();
      const seconds = Math.round((performance.now() - began) / 1_000);
      const counts = [...this.#model.transitions].map(([name, count]) => `${count} ${name}`).join(', ');
      print(
        `${dayOf(next)}, after ${seconds} s: ${counts}; ${[...this.findings.values()].flat().length} findings`,
      );
      if (sought !== undefined && this.findings.has(sought)) break;
    }
    const alerts = [...this.#comparison.alerts].map(([name, count]) => `${name} ${count} times`).join(', ');
    print(`alerts: ${alerts || 'none'}`);
    print(['by hand:', ...this.#at.manual.lines].join('\n'));
    await this.#compareDisk();
  }

  end(): Promise<void> {
    return this.#at.close();
  }

  async #register(): Promise<void> {
    const { receivers } = this.#at;
    for (let n = 0; n < APPLICATIONS; n += 1) {
      const path = `/application-${n}`;
      const client = await this.#at.asOwner((pool) =>
        createClient(pool, { name: `Shop ${n}`, eventsUri: receivers.uriOf(path), eventsInternal: true }),
      );
      this.#applications.push({ ...client, path, isBlocked: false });
    }
  }

  async #day(day: number, month: number, days: number): Promise<void> {
    this.#clock.set(Math.max(this.#clock.now(), day + 3 * HOUR));
    this.#comparison.isUnmaintained = this.#settings.fault === undefined && isUnmaintained(dayOf(day));
    const isTurn = new Date(day).getUTCDate() % DAYS_FOR_MAINTAIN === 1;
    if (isTurn && !this.#comparison.isUnmaintained) await this.#maintain();
    await this.#lookAtEnds(day + 12 * HOUR);
    this.#clock.set(Math.max(this.#clock.now(), day + 12 * HOUR));
    this.#act = () => this.#actOn(month, days);
    await this.#events.happen(dayOf(day));
    await this.#act();
  }

  async #maintain(): Promise<void> {
    const { fault } = this.#settings;
    const role = fault === 'noPartitions' ? 'server' : 'owner';
    await this.#at.command('maintain --json', role);
    this.#model.maintain(this.#clock.now());
  }

  /** Asks for tokens shortly before and after their ends. */
  async #lookAtEnds(noon: number): Promise<void> {
    const since = noon - DAY;
    const ending = this.#model.tokens.filter(
      ({ hasEnded, expiresAt }) =>
        !hasEnded && expiresAt >= since && expiresAt < noon + 2 * HOUR && expiresAt > this.#clock.now(),
    );
    if (ending.length === 0) return;
    const times = ending.map(({ expiresAt }) => expiresAt);
    this.#clock.set(Math.min(...times) - 10_000);
    await this.#comparison.verify(ending.slice(0, 20));
    // `iat` is in whole seconds.
    this.#clock.set(Math.max(...times) + 2_000);
    await this.#comparison.verify(ending);
  }

  async #actOn(month: number, days: number): Promise<void> {
    const { people } = this.#settings;
    const later = Math.max(1, this.#settings.months - MONTHS_OF_ARRIVAL);
    this.#awaited += people / 2 / days / (month < MONTHS_OF_ARRIVAL ? MONTHS_OF_ARRIVAL : later);
    const wanted = Math.floor(this.#awaited);
    this.#awaited -= wanted;
    const present = this.#model.people.filter(({ isDeleted }) => !isDeleted);
    const others = new Set(
      Array.from({ length: Math.ceil(present.length / PEOPLE_FOR_AN_ACT) }, () =>
        this.#dice.pick(present),
      ).filter(Boolean),
    );
    const works = [
      ...Array.from({ length: wanted }, () => async () => {
        const person = await this.#people.nextPerson();
        this.#changed.add(await this.#people.authorize(person, this.#dice.pick(this.#applications)));
      }),
      ...[...others].map((person) => this.#actOf(person)),
    ];
    await inParallel(works, async (work) => {
      await this.#tryAgain(work).catch(({ message, cause }: Error) =>
        this.#comparison.find('what a person can do', `${message} ${cause ?? ''}`.slice(0, 300)),
      );
    });
  }

  /** As 503 asks for, once: nothing was done (docs/operate/503.md). If something was, the comparison finds it later. */
  async #tryAgain(work: () => Promise<unknown>): Promise<void> {
    await work().catch(async (error: Error) => {
      if (!/\b503\b/.test(error.message)) throw error;
      this.#model.count('answered 503');
      await this.#at.untilReady();
      await work();
    });
  }

  /** What a person, or an operator for a person, does today. */
  #actOf(person: Person): () => Promise<unknown> {
    const people = this.#people;
    if (person.isBlocked) return () => people.unblock(person);
    const now = this.#clock.now();
    const live = person.tokens.filter((one) => this.#model.isActive(one, now));
    const token = live[this.#dice.below(Math.max(1, live.length))];
    const authorize = async () => {
      this.#changed.add(await people.authorize(person, this.#dice.pick(this.#applications)));
      for (const one of person.tokens) this.#changed.add(one);
    };
    if (token === undefined) return authorize;
    this.#changed.add(token);
    return this.#dice.weighed<() => Promise<unknown>>([
      [40, () => people.pay(token)],
      [25, authorize],
      [6, () => people.giveUp(token)],
      [6, () => people.disconnect(token)],
      [4, () => people.revoke(token)],
      [6, () => people.lower(token)],
      [4, () => people.block(person)],
      [4, () => people.losePassword(person)],
      [2, () => people.delete(person)],
    ]);
  }

  /** At the end of a month: do tokens, webhooks and the database say what was lived through? */
  async #look(): Promise<void> {
    const sample = Array.from({ length: Math.min(SAMPLE, this.#model.tokens.length) }, () =>
      this.#dice.pick(this.#model.tokens),
    );
    await this.#comparison.verify([...new Set([...this.#changed, ...sample])]);
    this.#changed = new Set();
    await this.#comparison.compareTold();
    await this.#at.copyTrail();
    // After a jump of the clock, what runs needs a moment to notice.
    let troubles: string[] = [];
    await until(async () => {
      troubles = await this.#comparison.troubles();
      return troubles.length === 0;
    });
    for (const trouble of troubles) this.#comparison.find('doctor', trouble);
    for (const line of this.#comparison.newLines()) this.#comparison.find('doctor', line);
  }

  async #compareDisk(): Promise<void> {
    for (const { table, rows, bytes, documented, isWrong } of await measureDisk(this.#at.postgres)) {
      const said = `${bytes} bytes a row of ${table} (${rows} rows), ${documented} in scaling.md`;
      if (isWrong) this.#comparison.find('disk', said);
      else this.#settings.print(said);
    }
  }
}

/** @param month such as 2026-12 */
function monthsAfter(month: string, months: number): number {
  const date = new Date(`${month}-01`);
  return date.setUTCMonth(date.getUTCMonth() + months);
}
