import { setTimeout as sleep } from 'node:timers/promises';
import { ledger } from '../support/ledger.ts';
import { audit } from './auditor.ts';
import { Browser } from './browser.ts';
import { Dice } from './dice.ts';
import { type Evidence, readRows } from './evidence.ts';
import type { Load } from './load.ts';
import type { Population } from './population.ts';
import { doneAllTheSame } from './rules/trail.ts';
import { CODE_LIFETIME_MS, type Site } from './site.ts';

// One fault under load: it happens, all recovers, drivers pause, and the auditor looks at everything so far.

export interface Outcome {
  readonly fault: string;
  readonly asked: number;
  readonly unavailable: number;
  /** Nobody took the connection. */
  readonly unreached: number;
  /** The connection broke, or no answer came. */
  readonly unanswered: number;
  /** Carried out although the caller was told 503, or nothing. */
  readonly doneThough503: number;
  readonly doneUnanswered: number;
  /** The longest time in which nothing at all was done. */
  readonly outageSeconds: number;
  /** From the end of the fault until both replicas served. */
  readonly recoverySeconds: number;
  readonly findings: Readonly<Record<string, string[]>>;
}

export interface Happening {
  readonly name: string;
  /** How long it is to last, as far as it has a choice. */
  readonly ms: number;
  happen(hold: (share?: number) => Promise<void>): Promise<void>;
}

/** Against hanging only: what does not recover by itself within this, does not recover. */
const RECOVERY_DEADLINE_MS = 60_000;
const POLL_MS = 50;

export interface Stage {
  readonly site: Site;
  readonly people: Population;
  readonly load: Load;
  /** Faults in which a 503 may be done. */
  readonly losing: ReadonlySet<string>;
  /** What was found by now: each finding is told once. */
  readonly told: Set<string>;
}

/** @throws {Error} when it does not recover */
export async function play(stage: Stage, { name, ms, happen }: Happening): Promise<Outcome> {
  const { site, load } = stage;
  site.during = name;
  load.go();
  let recoverySeconds: number;
  try {
    await happen((share = 1) => sleep(ms * share));
    const since = Date.now();
    await recovered(site);
    recoverySeconds = (Date.now() - since) / 1_000;
  } finally {
    await load.pause();
  }
  const evidence = await gather(stage);
  return { ...count(evidence, name), recoverySeconds, findings: news(audit(evidence), stage.told) };
}

function news(findings: Outcome['findings'], told: Set<string>): Outcome['findings'] {
  const fresh = Object.entries(findings).map(
    ([rule, found]) => [rule, found.filter((finding) => !told.has(finding))] as const,
  );
  for (const found of Object.values(findings)) for (const finding of found) told.add(finding);
  return Object.fromEntries(fresh.filter(([, found]) => found.length > 0));
}

/** Waits until each replica is ready, and says to a request that needs the database what it says when all is well. */
async function recovered(site: Site): Promise<void> {
  const deadline = Date.now() + RECOVERY_DEADLINE_MS;
  for (const index of [0, 1]) {
    while (!(await serves(site.front(index)))) {
      if (Date.now() > deadline) throw new Error(`replica ${index} does not recover`);
      await sleep(POLL_MS);
    }
  }
}

async function serves(address: string): Promise<boolean> {
  const statusOf = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(address + path, { ...init, signal: AbortSignal.timeout(10_000) });
    await answer.arrayBuffer();
    return answer.status;
  };
  const asked = {
    client_id: 'nobody',
    code: 'none',
    grant_type: 'authorization_code',
    redirect_uri: 'https://no.example',
  };
  const body = new URLSearchParams(asked);
  try {
    return (
      (await statusOf('/health/ready')) === 200 &&
      (await statusOf('/oauth/token', { method: 'POST', body })) === 400
    );
  } catch {
    return false;
  }
}

/** Lets all come to rest, asks for every token once more, and reads the rows. */
export async function gather({ site, people, losing }: Stage): Promise<Evidence> {
  await statementsEnd(site);
  const quietSince = Date.now();
  await askEveryToken(site, people);
  const { grants, events } = await site.ask(readRows);
  const { lives, journal, frozenAt } = site;
  const leaks = lives.flatMap(({ name, output }) => ledger.search(name, output.split('\n')));
  const { entries } = journal;
  const judged = { entries, grants, events, lives, leaks };
  return { ...judged, codeLifetimeMs: CODE_LIFETIME_MS, quietSince, losing, frozenAt };
}

/** Waits for what nobody waits for any more: statements of replicas that were killed, say. */
async function statementsEnd(site: Site): Promise<void> {
  const busy = `select from pg_stat_activity where usename = 'assent_server' and state <> 'idle'`;
  while (((await site.ask((client) => client.query(busy))).rowCount ?? 0) > 0) await sleep(POLL_MS);
}

const AT_ONCE = 32;

/** Asks for every token that was ever told, when nothing else goes on. */
async function askEveryToken(site: Site, { resource }: Population): Promise<void> {
  const resourceServer = new Browser(
    site,
    { name: 'resource server', userId: null },
    new Dice('resource server'),
  );
  const tokens = [...site.tokens];
  const askNext = async () => {
    for (let token = tokens.pop(); token !== undefined; token = tokens.pop()) {
      await resourceServer.post('/oauth/introspect', { token }, { authorization: resource });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, askNext));
}

function count(evidence: Evidence, name: string): Omit<Outcome, 'recoverySeconds' | 'findings'> {
  const during = evidence.entries.filter((entry) => entry.during === name);
  const told = (what: string) => during.filter((entry) => entry.told === what).length;
  const done = (what: 'unavailable' | 'nothing') =>
    doneAllTheSame(evidence, what).filter((entry) => entry.during === name).length;
  return {
    fault: name,
    asked: during.length,
    unavailable: told('unavailable'),
    unreached: told('unreached'),
    unanswered: told('nothing'),
    doneThough503: done('unavailable'),
    doneUnanswered: done('nothing'),
    outageSeconds:
      longestGap(during.filter((entry) => entry.told === 'done').map(({ toldAt }) => toldAt)) / 1_000,
  };
}

/** @param times in ascending order */
function longestGap(times: readonly number[]): number {
  return Math.max(0, ...times.slice(1).map((time, index) => time - (times[index] ?? time)));
}
