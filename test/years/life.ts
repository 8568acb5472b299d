import { setTimeout as sleep } from 'node:timers/promises';
import type { Dice } from '../faults/dice.ts';
import { newSecret } from '../support/ledger.ts';
import { createClient } from '../support/registrations.ts';
import { type Clock, DAY, HOUR } from './clock.ts';
import { Installation, SERVER_ROLE } from './installation.ts';
import { type Application, add, Model, type Person, type Token } from './model.ts';
import { dayOf, People } from './people.ts';
import { type Fault, LONG_TOKENS_SQL, PLANTED, type Rule } from './planted.ts';

interface Settings {
  readonly months: number;
  readonly people: number;
  readonly fault: Fault | undefined;
  readonly print: (line: string) => void;
}

/** Findings of each rule that are printed. */
const MOST_PRINTED = 20;
const BEGIN = Date.UTC(2026, 11, 1);
const APPLICATIONS = 5;
const AT_ONCE = 4;
/** Most people come in the first months: their tokens end in masses. */
const MONTHS_OF_ARRIVAL = 4;
/** A quarter has fewer. */
const OPERATOR_DAYS = 95;
/** Tokens that are asked for at the end of a month, besides those that changed. */
const SAMPLE = 150;
const MONTH_OF_RESTORE = 17;
const TOLD_WITHIN_MS = 30_000;

/** Months, counted from 0, in which nothing runs `assent maintain`. */
const isUnmaintained = (month: number) => month >= 14 && month < 26;

/** The life of an installation, from the first migration on. */
export class Life {
  readonly findings = new Map<Rule, string[]>();
  readonly #clock: Clock;
  readonly #dice: Dice;
  readonly #settings: Settings;
  readonly #model = new Model();
  readonly #applications: Application[] = [];
  #installation!: Installation;
  #people!: People;
  readonly #operators: string[] = [];
  #changed = new Set<Token>();
  #isUnmaintained = false;
  #seen = new Set<string>();
  readonly #accepted = new Set<string>();
  readonly #heard = { application: new Map<string, number>(), wallet: new Map<string, number>() };

  static async begin(clock: Clock, dice: Dice, settings: Settings): Promise<Life> {
    const life = new Life(clock, dice, settings);
    clock.skew('second', 0);
    clock.set(BEGIN);
    life.#installation = await Installation.open(clock, settings.fault);
    life.#people = new People(life.#installation, life.#model, dice);
    await life.#newOperator();
    await life.#register();
    if (settings.fault === 'longTokens') await life.#installation.postgres.run(LONG_TOKENS_SQL);
    return life;
  }

  private constructor(clock: Clock, dice: Dice, settings: Settings) {
    this.#clock = clock;
    this.#dice = dice;
    this.#settings = settings;
  }

  /** Ends early when a planted fault is found. */
  async live(): Promise<void> {
    const { fault, print } = this.#settings;
    const sought = fault && PLANTED[fault].rule;
    const began = performance.now();
    for (let month = 0; month < this.#settings.months; month += 1) {
      const [first, next] = [Date.UTC(2026, 11 + month, 1), Date.UTC(2026, 12 + month, 1)];
      await this.#onceAMonth(month);
      for (let day = first; day < next; day += DAY) await this.#day(day, month, (next - first) / DAY);
      await this.#look();
      const seconds = Math.round((performance.now() - began) / 1_000);
      const counts = [...this.#model.transitions].map(([name, count]) => `${count} ${name}`).join(', ');
      print(
        `${dayOf(next)}, after ${seconds} s: ${counts}; ${[...this.findings.values()].flat().length} findings`,
      );
      if (sought !== undefined && this.findings.has(sought)) break;
    }
    print(await this.#disk());
  }

  end(): Promise<void> {
    return this.#installation.close();
  }

  #find(rule: Rule, what: string): void {
    const [found, finding] = [
      this.findings.get(rule) ?? [],
      `${new Date(this.#clock.now()).toISOString()} ${what}`,
    ];
    this.findings.set(rule, [...found, finding]);
    if (found.length < MOST_PRINTED) this.#settings.print(`  ${rule}: ${finding}`);
  }

  async #register(): Promise<void> {
    const { receivers } = this.#installation;
    for (let n = 0; n < APPLICATIONS; n += 1) {
      const path = `/application-${n}`;
      const client = await this.#installation.asOwner((pool) =>
        createClient(pool, { name: `Shop ${n}`, eventsUri: receivers.uriOf(path), eventsInternal: true }),
      );
      this.#applications.push({ ...client, path, isBlocked: false });
    }
  }

  async #onceAMonth(month: number): Promise<void> {
    const at = this.#installation;
    if (month % 3 === 2) await this.#newOperator();
    if (month % 3 === 1) await this.#rotateSecrets();
    if (month === 7) {
      // A clock that NTP sets back, and one server whose clock is wrong.
      this.#clock.set(this.#clock.now() - 90_000);
      this.#clock.skew('second', 40_000);
    }
    if (month === 9) this.#clock.skew('second', -40_000);
    if (month === 11) this.#clock.skew('second', 0);
    if (this.#settings.fault === 'silentMonth' && month === 2) await at.stopNotify();
    if (this.#settings.fault === 'silentMonth' && month === 3) await at.startNotify();
  }

  /** docs/operate/secrets.md: three roll-outs, the last one 45 minutes later. */
  async #rotateSecrets(): Promise<void> {
    const at = this.#installation;
    const [old = '', made] = [at.secrets[0], newSecret()];
    for (const secrets of [[old, made], [made, old], [made]]) {
      at.secrets = secrets;
      if (secrets.length === 1) this.#clock.set(this.#clock.now() + HOUR);
      await at.restart();
    }
    this.#model.count('SECRETS rotated');
  }

  /** Before the earlier one's token ends. The one before that must have ended. */
  async #newOperator(): Promise<void> {
    const { operator } = this.#people;
    this.#operators.push(operator);
    const ended = this.#operators.at(-2);
    if (ended) {
      const { status } = await this.#installation.operate(ended, 'GET /v1/users?limit=1');
      if (status !== 401)
        this.#find('what a token opens', `${status} for an operator's token that has ended`);
    }
    const name = `operator ${this.#operators.length}`;
    this.#people.operator = await this.#installation.newOperator(name, OPERATOR_DAYS);
  }

  async #day(day: number, month: number, days: number): Promise<void> {
    this.#clock.set(day + 3 * HOUR);
    this.#isUnmaintained = isUnmaintained(month);
    if (!this.#isUnmaintained) await this.#maintain();
    await this.#lookAtEnds(day + 12 * HOUR);
    this.#clock.set(Math.max(this.#clock.now(), day + 12 * HOUR));
    if (month === 5 && new Date(day).getUTCDate() === 3) this.#installation.letCertificateEnd();
    if (month === 5 && new Date(day).getUTCDate() === 4) {
      this.#installation.renewCertificate();
      await this.#compareTold();
      if (this.#newLines().length === 0)
        this.#find('doctor', 'nothing in the log says that a certificate is over');
    }
    const isBlockingDay = new Date(day).getUTCDate() === 10 && month % 4 === 3;
    const application = this.#applications[month % APPLICATIONS];
    if (isBlockingDay && application) await this.#blockForAnHour(application);
    const act = () => this.#act(month, days);
    const isLost = month === MONTH_OF_RESTORE && new Date(day).getUTCDate() === 15;
    await (isLost ? this.#loseADay(act) : act());
  }

  /** A backup at night, a day of which nothing may live, and a restore. */
  async #loseADay(act: () => Promise<void>): Promise<void> {
    const [at, model] = [this.#installation, this.#model];
    const now = Math.floor(this.#clock.now() / 1_000) * 1_000; // `iat` is in whole seconds
    await at.copyTrail();
    await at.backUp();
    const live = new Set(model.tokens.filter((one) => model.isLive(one, now)));
    const backup = { at: now, live, limits: new Map(model.tokens.map((one) => [one, one.limit])) };
    const people = new Set(model.people);
    const before = new Map(model.people.map((one) => [one, { ...one }]));
    await act();
    await this.#compareTold();
    await at.copyTrail();
    const revoked = model.restore(backup);
    await at.restore(async () => {
      for (const person of model.people) await this.#repeat(person, before.get(person));
    });
    for (const person of model.people) if (!people.has(person)) person.isDeleted = true;
    await this.#verify([...live, ...model.tokens.slice(-50)]);
    const told = () => this.#toldTo('application');
    const untold = () =>
      revoked.filter(({ grantId }) => !told().has(`authorization.ended ${grantId} operator`));
    await until(() => untold().length === 0);
    for (const { grantId } of untold()) this.#find('what is told', `${grantId} was revoked after a restore`);
    this.#newLines(); // of the outage
    // Some is told twice, with the same ids, and what was undone was told, too.
    for (const [whom, counts] of Object.entries(model.told) as [
      'application' | 'wallet',
      Map<string, number>,
    ][]) {
      counts.clear();
      for (const [key, count] of this.#toldTo(whom)) counts.set(key, count);
    }
  }

  /** What an operator repeats by hand after a restore, from the copy of the trail. */
  async #repeat(person: Person, before: Person | undefined): Promise<void> {
    if (before === undefined) return;
    const { isBlocked, isDeleted, user } = person;
    const command = (line: string, stdin?: string) => this.#installation.command(line, undefined, stdin);
    if (user.password !== before.user.password)
      await command(`user set-password ${user.userId} --password-stdin --json`, `${user.password}\n`);
    if (isDeleted && !before.isDeleted) await command(`user delete ${user.userId} --yes --json`);
    else if (isBlocked !== before.isBlocked)
      await command(`user ${isBlocked ? 'block' : 'unblock'} ${user.userId} --json`);
  }

  async #maintain(): Promise<void> {
    const { fault } = this.#settings;
    const role = fault === 'noPartitions' ? SERVER_ROLE : 'assent';
    await this.#installation.command('maintain --json', role);
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
    await this.#verify(ending.slice(0, 20));
    // `iat` is in whole seconds.
    this.#clock.set(Math.max(...times) + 2_000);
    await this.#verify(ending);
  }

  async #blockForAnHour(application: Application): Promise<void> {
    await this.#people.operate(`POST /v1/clients/${application.clientId}/block`);
    application.isBlocked = true;
    this.#model.count('application blocked');
    this.#model.tellApplication({ grantId: null, application }, 'ended', 'client_blocked');
    await this.#verify(this.#model.tokens.filter((one) => one.application === application).slice(-20));
    this.#clock.set(this.#clock.now() + HOUR);
    await this.#people.operate(`POST /v1/clients/${application.clientId}/unblock`);
    application.isBlocked = false;
  }

  async #act(month: number, days: number): Promise<void> {
    const { people } = this.#settings;
    const wanted = Math.ceil((people / (MONTHS_OF_ARRIVAL * days)) * (month < MONTHS_OF_ARRIVAL ? 1 : 0.04));
    const present = this.#model.people.filter(({ isDeleted }) => !isDeleted);
    const others = new Set(
      Array.from({ length: Math.ceil(present.length / 800) }, () => this.#dice.pick(present)).filter(Boolean),
    );
    const works = [
      ...Array.from({ length: wanted }, () => async () => {
        const person = await this.#people.newPerson();
        this.#changed.add(await this.#people.authorize(person, this.#dice.pick(this.#applications)));
      }),
      ...[...others].map((person) => this.#actOf(person)),
    ];
    await inParallel(works, async (work) => {
      await work().catch((error: Error) => this.#find('what a person can do', error.message.slice(0, 300)));
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

  async #verify(tokens: readonly Token[]): Promise<void> {
    await inParallel([...tokens], async (token) => {
      const now = this.#clock.now();
      const { active, exp } = await this.#people.introspect(token.value);
      const expected = this.#model.isActive(token, now);
      const [issued, expires] = [token.issuedAt, token.expiresAt].map((time) => new Date(time).toISOString());
      if (active !== expected)
        this.#find(
          'what a token opens',
          `active: ${active} instead of ${expected}, token of ${issued} to ${expires}`,
        );
      else if (active && exp !== token.expiresAt / 1_000)
        this.#find('what a token opens', `exp: ${exp} of a token of ${issued}`);
    });
  }

  /** At the end of a month: do tokens, webhooks and the database say what was lived through? */
  async #look(): Promise<void> {
    const sample = Array.from({ length: Math.min(SAMPLE, this.#model.tokens.length) }, () =>
      this.#dice.pick(this.#model.tokens),
    );
    await this.#verify([...new Set([...this.#changed, ...sample])]);
    this.#changed = new Set();
    await this.#compareTold();
    await this.#installation.copyTrail();
    // After a jump of the clock, what runs needs a moment to notice.
    await until(async () => (await this.#troubles()).length === 0);
    for (const trouble of await this.#troubles()) this.#find('doctor', trouble);
    for (const line of this.#newLines()) this.#find('doctor', line);
  }

  /** Warnings and errors in the logs since the last call. */
  #newLines(): string[] {
    const lines = this.#installation.log.filter((line) => !this.#seen.has(line));
    this.#seen = new Set([...this.#seen, ...lines]);
    return lines;
  }

  async #troubles(): Promise<string[]> {
    const said = [];
    for (const line of ['doctor --json', 'doctor --invariants --json'])
      said.push(...JSON.parse((await this.#installation.tryCommand(line, SERVER_ROLE)).stdout));
    // The partitions of the trail are only advice, but what `maintain` is for.
    const isTrouble = ({ check, level }: Record<string, string>) =>
      (level === 'error' && !IGNORED.has(`${check}`)) ||
      (level !== 'ok' && /^trail/.test(`${check}`) && !this.#isUnmaintained);
    return said.filter(isTrouble).map(({ check, text }) => `${check}: ${text}`);
  }

  async #compareTold(): Promise<void> {
    const { told } = this.#model;
    const differences = () => [
      ...differenceOf(told.application, this.#toldTo('application')),
      ...differenceOf(this.#withoutGone(told.wallet), this.#withoutGone(this.#toldTo('wallet'))),
    ];
    // What was missing once is missing at the end of each month.
    await until(() => differences().length === 0, this.findings.has('what is told') ? 0 : TOLD_WITHIN_MS);
    for (const difference of differences()) this.#find('what is told', difference);
  }

  /** What was accepted so far, each message once. */
  #toldTo(whom: 'application' | 'wallet'): Map<string, number> {
    const { deliveries } = this.#installation.receivers;
    for (const { path, id, status, body } of deliveries.splice(0)) {
      if (status >= 300 || this.#accepted.has(`${path} ${id}`)) continue;
      this.#accepted.add(`${path} ${id}`);
      const { kind, user_id, type, data } = JSON.parse(body);
      if (path !== '/wallet')
        add(this.#heard.application, `${type} ${data.grant_id ?? data.client_id} ${data.reason}`);
      else if (KINDS.has(kind)) add(this.#heard.wallet, `${user_id} ${kind}`);
    }
    return this.#heard[whom];
  }

  #withoutGone(counts: Map<string, number>): Map<string, number> {
    const gone = new Set(
      this.#model.people
        .filter(({ isDeleted, wasBlocked }) => isDeleted || wasBlocked)
        .map(({ user }) => user.userId),
    );
    return new Map([...counts].filter(([key]) => !gone.has(key.split(' ')[0] ?? '')));
  }

  /** Beside docs/operate/scaling.md. Partitions with few rows are mostly empty pages. */
  async #disk(): Promise<string> {
    const sizeOf = (tables: string, few: number) => `
      select round(sum(pg_total_relation_size(oid)) / greatest(sum(reltuples), 1))::int as bytes, sum(reltuples)::int as rows
        from pg_class where relkind = 'r' and relname like '${tables}' and reltuples > ${few}`;
    const each = ['users', 'grants', 'audit_events_%', 'payment_reservations'].map((tables) => ({
      tables,
      sql: sizeOf(tables, tables.endsWith('%') ? 300 : 0),
    }));
    const sizes = await this.#installation.asOwner(async (pool) => {
      await pool.query('analyze');
      return Promise.all(
        each.map(async ({ tables, sql }) => ({ tables, ...(await pool.query(sql)).rows[0] })),
      );
    });
    return `bytes a row: ${sizes.map(({ tables, bytes, rows }) => `${tables} ${bytes} (${rows} rows)`).join(', ')}`;
  }
}

/** `fsync` is off, which makes the years shorter. */
const IGNORED = new Set(['durability']);

/** Messages whose number follows from what was done. */
const KINDS = new Set(['allowed', 'replaced', 'ended', 'right_ended', 'lowered']);

/** Waits for a while: what isn't so by then is a finding, not an error. */
async function until(isSo: () => boolean | Promise<boolean>, patienceMs = TOLD_WITHIN_MS): Promise<void> {
  const end = performance.now() + patienceMs;
  while (!(await isSo()) && performance.now() < end) await sleep(250);
}

async function inParallel<Work>(works: readonly Work[], run: (work: Work) => Promise<void>): Promise<void> {
  const left = [...works];
  const worker = async () => {
    for (let work = left.shift(); work !== undefined; work = left.shift()) await run(work);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

function differenceOf(expected: Map<string, number>, told: Map<string, number>): string[] {
  return [...new Set([...expected.keys(), ...told.keys()])].flatMap((key) => {
    const [wanted, got] = [expected.get(key) ?? 0, told.get(key) ?? 0];
    return wanted === got ? [] : [`${key}: ${got} times instead of ${wanted}`];
  });
}
