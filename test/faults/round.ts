import { setTimeout as sleep } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { openDatabase } from '../../src/store/database/database.ts';
import { findBroken } from '../../src/store/schema/invariants.ts';
import { ledger } from '../support/ledger.ts';
import { PATIENCE } from '../support/process/program.ts';
import { audit, withoutOvertaken } from './auditor.ts';
import { Browser, Unanswered } from './browser.ts';
import { Dice } from './dice.ts';
import { type Evidence, readRows } from './evidence.ts';
import type { Faults, Hold } from './faults.ts';
import { operator } from './operator.ts';
import { person } from './person.ts';
import { OF_STORIES } from './rules/stories.ts';
import { type Casting, CODE_LIFETIME_MS, type EmbeddedHome, type Home, Site } from './site.ts';

// One fault under load: it happens, all recovers, drivers pause, and the auditor checks everything so far.

export interface Outcome {
  readonly fault: string;
  readonly evidence: Evidence;
  readonly recoverySeconds: number;
  /** Findings by answers within 3 seconds of a takeover, which are allowed. */
  readonly soon: readonly string[];
  readonly findings: Readonly<Record<string, string[]>>;
}

export interface Stage<StagesHome extends Home = EmbeddedHome> {
  readonly home: StagesHome;
  readonly faults: Faults<StagesHome>;
  readonly site: Site;
  readonly load: ReturnType<typeof loadOn>;
  /** The findings so far: each is reported once. */
  readonly told: Set<string>;
}

export async function openStage<StagesHome extends Home>(
  home: StagesHome,
  faults: Faults<StagesHome>,
  casting: Casting,
): Promise<Stage<StagesHome>> {
  const site = new Site(home, casting);
  try {
    await site.start();
    return { home, faults, site, load: loadOn(site, casting.seed), told: new Set() };
  } catch (error) {
    await site.close();
    throw error;
  }
}

export async function play<StagesHome extends Home>(
  stage: Stage<StagesHome>,
  fault: string,
  hold: Hold,
): Promise<Outcome> {
  const { site, home, load, faults, told } = stage;
  site.during = fault;
  load.go();
  let recoverySeconds: number;
  try {
    await faults[fault]?.happen({ site, home, hold });
    const since = Date.now();
    for (const { front } of site.replicas) await vi.waitFor(() => expectToServe(front), PATIENCE);
    recoverySeconds = (Date.now() - since) / 1_000;
  } finally {
    await load.pause();
  }
  const losing = Object.keys(faults).filter((name) => faults[name]?.losesAnswers);
  const evidence = await gather(site, losing);
  const all = audit(evidence, told);
  // A finding that appears only without these answers appears because they are missing.
  const later = Object.values(audit(withoutOvertaken(evidence), told)).flat();
  const soon = Object.values(all).flatMap((found) => found.filter((finding) => !later.includes(finding)));
  const findings = audit(evidence, new Set([...told, ...soon]));
  for (const finding of Object.values(all).flat()) told.add(finding);
  return { fault, evidence, recoverySeconds, soon, findings };
}

/** A replica that serves is ready, and refuses an exchange by what the database has. */
async function expectToServe(port: number): Promise<void> {
  const address = `http://localhost:${port}`;
  const signal = AbortSignal.timeout(10_000);
  const asked = { client_id: 'unknown', code: 'none', redirect_uri: 'https://no.example' };
  const body = new URLSearchParams({ grant_type: 'authorization_code', ...asked });
  const ready = await fetch(`${address}/health/ready`, { signal });
  const exchange = await fetch(`${address}/oauth/token`, { method: 'POST', body, signal });
  await Promise.all([ready.text(), exchange.text()]);
  expect([ready.status, exchange.status], address).toEqual([200, 400]);
}

/** Waits until all statements have ended, introspects every token once more, and reads the rows. */
async function gather(site: Site, losing: readonly string[]): Promise<Evidence> {
  await statementsEnd(site);
  const quietSince = Date.now();
  await askEveryToken(site);
  const { entries, lives, frozenAt, overtakenAt } = site;
  return {
    ...(await site.ask(readRows)),
    broken: await brokenStories(site),
    entries,
    lives,
    leaks: lives.flatMap(({ name, output }) => ledger.search(name, output.split('\n'))),
    codeLifetimeMs: CODE_LIFETIME_MS,
    quietSince,
    losing: new Set(losing),
    frozenAt,
    overtakenAt,
  };
}

async function brokenStories({ home }: Site): Promise<string[]> {
  const pool = openDatabase(await home.primaryUrl());
  const found = await findBroken(pool, 60).finally(() => pool.end());
  const wrong = found.filter(({ check, level }) => level === 'error' && OF_STORIES.test(check));
  return wrong.map(({ text }) => text);
}

/** Also statements without a caller, such as those of killed replicas. */
async function statementsEnd(site: Site): Promise<void> {
  const busy = `select from pg_stat_activity where usename = 'assent_server' and state <> 'idle'`;
  while (((await site.ask((client) => client.query(busy))).rowCount ?? 0) > 0) await sleep(50);
}

const AT_ONCE = 32;

async function askEveryToken(site: Site): Promise<void> {
  const actor = 'resource server';
  const resourceServer = new Browser(site, { actor }, new Dice(actor));
  const tokens = [...site.tokens];
  const askNext = async () => {
    for (let token = tokens.pop(); token !== undefined; token = tokens.pop())
      await resourceServer.introspect(token);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, askNext));
}

function loadOn(site: Site, seed: string) {
  /** The reasons for abandoned actions, in the words of a page, and how often. */
  const gaveUp = new Map<string, number>();
  let isPaused = true;
  let running: Promise<unknown> = Promise.resolve();

  const driver = (name: string, maxPauseMs: number, make: (dice: Dice) => () => Promise<unknown>) => {
    const dice = new Dice(`${seed} ${name}`);
    const act = make(dice);
    return async () => {
      for (; !isPaused; await sleep(dice.below(maxPauseMs))) {
        await act().catch((error: unknown) => {
          if (!(error instanceof Error) || error instanceof TypeError) throw error;
          const why = error instanceof Unanswered ? error.message : error.message.slice(0, 60);
          gaveUp.set(why, (gaveUp.get(why) ?? 0) + 1);
        });
      }
    };
  };
  const persons = site.users.flatMap((user, index) =>
    ['a', 'b'].map((browser) => {
      const name = `user ${index}, browser ${browser}`;
      return driver(name, 60, (dice) => person(site, user, name, dice));
    }),
  );
  const drivers = [...persons, driver('operator', 1_500, (dice) => operator(site, dice))];

  return {
    gaveUp,
    go() {
      isPaused = false;
      running = Promise.all(drivers.map((drive) => drive()));
    },
    /** Resolves when each driver has its last answer. @throws an error that no page and no broken connection explains */
    async pause() {
      isPaused = true;
      await running;
    },
  };
}
