import { setTimeout as sleep } from 'node:timers/promises';
import { Scrapes } from './alerts.ts';
import { type Clock, MINUTE } from './clock.ts';
import type { Installation } from './installation.ts';
import { add, type Model, type Token } from './model.ts';
import type { People } from './people.ts';
import type { Rule } from './planted.ts';

/** Findings of each rule that are printed. */
const MOST_PRINTED = 20;
const TOLD_WITHIN_MS = 30_000;
const AT_ONCE = 6;

/** A watch looks at each of the first minutes, and at its last one: nothing changes in between. */
const EACH_MINUTE = 6;

interface Watch {
  readonly minutes: number;
  readonly expected?: readonly string[];
  /** Done before each scrape. */
  readonly act?: () => Promise<unknown>;
  /** Each scrape is repeated until the answer of each server is so: servers read some metrics anew only each ten seconds. */
  readonly until?: (metrics: string | undefined) => boolean;
}

/** Compares what is seen from outside with the model. */
export class Comparison {
  readonly findings = new Map<Rule, string[]>();
  /** The alerts that fired, and how often. */
  readonly alerts = new Map<string, number>();
  /** Nothing runs `assent maintain`. */
  isUnmaintained = false;
  readonly #at: Installation;
  readonly #clock: Clock;
  readonly #model: Model;
  readonly #people: People;
  readonly #print: (line: string) => void;
  readonly #seen = new Set<string>();
  readonly #crashes = new Set<number>();
  readonly #outages: { readonly from: number; readonly to: number }[] = [];
  /** What was told too often or not, and is found: it stays so. */
  readonly #differences = new Set<string>();
  readonly #accepted = new Set<string>();
  readonly #heard = { application: new Map<string, number>(), wallet: new Map<string, number>() };

  constructor(at: Installation, model: Model, people: People, print: (line: string) => void) {
    this.#at = at;
    this.#clock = at.clock;
    this.#model = model;
    this.#people = people;
    this.#print = print;
  }

  find(rule: Rule, what: string): void {
    const [found, finding] = [
      this.findings.get(rule) ?? [],
      `${new Date(this.#clock.now()).toISOString()} ${what}`,
    ];
    this.findings.set(rule, [...found, finding]);
    if (found.length < MOST_PRINTED) this.#print(`  ${rule}: ${finding}`);
  }

  async verify(tokens: readonly Token[]): Promise<void> {
    await inParallel([...tokens], async (token) => {
      const now = this.#clock.now();
      const { active, exp } = await this.#people.introspect(token.value);
      const expected = this.#model.isActive(token, now);
      const [issued, expires] = [token.issuedAt, token.expiresAt].map((time) => new Date(time).toISOString());
      if (active !== expected)
        this.find(
          'what a token opens',
          `active: ${active} instead of ${expected}, token of ${issued} to ${expires}`,
        );
      else if (active && exp !== token.expiresAt / 1_000)
        this.find('what a token opens', `exp: ${exp} of a token of ${issued}`);
    });
  }

  /** Warnings and errors in the logs since the last call, without those of an outage. */
  newLines(): string[] {
    this.#noteCrashes();
    const lines = this.#at.log.filter((line) => !this.#seen.has(line));
    for (const line of lines) this.#seen.add(line);
    return lines.filter((line) => !this.#isExpected(line));
  }

  #isExpected(line: string): boolean {
    const at = Date.parse(JSON.parse(line).time);
    const isOfOutage = this.#outages.some(({ from, to }) => at >= from && at <= to);
    return isOfOutage || (this.isUnmaintained && line.includes('the audit trail has partitions for only'));
  }

  /** Its troubles are expected in the logs until now, and a moment longer. */
  noteOutage(from: number): void {
    this.#outages.push({ from, to: this.#clock.now() + MINUTE });
  }

  #noteCrashes(): void {
    for (const at of this.#at.postgres.crashes.filter((one) => !this.#crashes.has(one))) {
      this.#crashes.add(at);
      this.#outages.push({ from: at - MINUTE, to: at + MINUTE });
      this.#model.count('crash of PostgreSQL');
    }
  }

  /** What a command of the servers' role says in JSON. */
  async said(line: string): Promise<Record<string, string>[]> {
    return JSON.parse((await this.#at.tryCommand(line, 'server')).stdout);
  }

  async troubles(): Promise<string[]> {
    const said = [...(await this.said('doctor --json')), ...(await this.said('doctor --invariants --json'))];
    // The partitions of the trail are only advice, but what `maintain` is for.
    const isTrouble = ({ check, level }: Record<string, string>) =>
      (level === 'error' && !IGNORED.has(`${check}`)) ||
      (level !== 'ok' && /^trail/.test(`${check}`) && !this.isUnmaintained);
    return said.filter(isTrouble).map(({ check, text }) => `${check}: ${text}`);
  }

  mustBeLogged(pattern: RegExp, what: string): void {
    if (!this.#at.log.some((line) => pattern.test(line))) this.find('doctor', `no log says ${what}`);
  }

  async compareTold(): Promise<void> {
    const { told, mayBeTold } = this.#model;
    const differences = () => [
      ...differenceOf(told.application, this.toldTo('application'), mayBeTold),
      ...differenceOf(this.#countable(told.wallet), this.#countable(this.toldTo('wallet'))),
    ];
    const unknown = () => differences().filter((one) => !this.#differences.has(one));
    await until(() => unknown().length === 0);
    for (const difference of unknown()) {
      this.#differences.add(difference);
      this.find('what is told', `${difference}; ${await this.#trailOf(difference)}`);
    }
  }

  /** What the audit trail has about the authorization in a text, and about its user. */
  async #trailOf(text: string): Promise<string> {
    const [id = ''] = /[0-9a-f-]{36}/.exec(text) ?? [];
    const events = await this.#at.postgres.query<{ said: string }>(
      `select concat_ws(' ', to_char(at, 'YYYY-MM-DD HH24:MI:SS.MS'), kind, grant_id) as said from audit_events
        where user_id::text = '${id}' or user_id in (select user_id from audit_events where grant_id::text = '${id}') order by at`,
    );
    return `the trail has: ${events.map(({ said }) => said).join(', ')}`;
  }

  /** What was accepted so far, each message once. */
  toldTo(whom: 'application' | 'wallet'): Map<string, number> {
    const { deliveries } = this.#at.receivers;
    for (const { path, id, status, body } of deliveries.splice(0)) {
      if (status >= 300 || this.#accepted.has(`${path} ${id}`)) continue;
      this.#accepted.add(`${path} ${id}`);
      const { kind, user_id, type, data } = JSON.parse(body);
      if (path !== '/wallet')
        add(this.#heard.application, `${type} ${data.grant_id ?? data.client_id} ${data.reason}`);
      else add(this.#heard.wallet, `${user_id} ${kind}`);
    }
    return this.#heard[whom];
  }

  #countable(counts: Map<string, number>): Map<string, number> {
    const gone = new Set(
      this.#model.people
        .filter(({ isDeleted, blockedAt }) => isDeleted || blockedAt !== undefined)
        .map(({ user }) => user.userId),
    );
    return new Map(
      [...counts].filter(([key]) => {
        const [user = '', kind = ''] = key.split(' ');
        return KINDS.has(kind) && !gone.has(user);
      }),
    );
  }

  /** Lets minutes pass, scrapes the servers, and compares the alerts that fire with the expected ones. */
  async watch({ minutes, expected = [], act, until: isSo }: Watch): Promise<void> {
    const scrapes = new Scrapes();
    const began = this.#clock.now();
    for (const minute of [...Array(EACH_MINUTE).keys(), minutes].filter((one) => one <= minutes)) {
      this.#clock.set(Math.max(this.#clock.now(), began + minute * MINUTE));
      await act?.();
      await this.#at.untilNotified();
      let answers = await this.#at.metrics();
      if (isSo)
        await until(async () => {
          answers = await this.#at.metrics();
          return answers.every(isSo);
        });
      scrapes.add(minute, answers);
    }
    const fired = scrapes.fired(this.#at.folder);
    for (const alert of fired) {
      add(this.alerts, alert);
      if (!expected.includes(alert)) this.find('alerts', `${alert} has no cause`);
    }
    for (const alert of expected) if (!fired.has(alert)) this.find('alerts', `${alert} did not fire`);
  }
}

/** `fsync` is off, which makes the years shorter. */
const IGNORED = new Set(['durability']);

/** Messages whose number follows from what was done. */
const KINDS = new Set(['allowed', 'replaced', 'ended', 'right_ended', 'lowered']);

/** Waits for a while: what isn't so by then is a finding, not an error. */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  patienceMs = TOLD_WITHIN_MS,
): Promise<void> {
  const end = performance.now() + patienceMs;
  while (!(await isSo()) && performance.now() < end) await sleep(250);
}

export async function inParallel<Work>(
  works: readonly Work[],
  run: (work: Work) => Promise<void>,
): Promise<void> {
  const left = [...works];
  const worker = async () => {
    for (let work = left.shift(); work !== undefined; work = left.shift()) await run(work);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** @param optional what may be told once more */
function differenceOf(
  expected: Map<string, number>,
  told: Map<string, number>,
  optional = new Set<string>(),
): string[] {
  return [...new Set([...expected.keys(), ...told.keys()])].flatMap((key) => {
    const [wanted, got] = [expected.get(key) ?? 0, told.get(key) ?? 0];
    const isRight = wanted === got || (optional.has(key) && got === wanted + 1);
    return isRight ? [] : [`${key}: ${got} times instead of ${wanted}`];
  });
}
