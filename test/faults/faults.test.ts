import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { obtainToken } from '../support/flow.ts';
import { audit } from './auditor.ts';
import { Browser } from './browser.ts';
import { Dice } from './dice.ts';
import { FAULTS } from './faults.ts';
import { type EmbeddedHome, makeHome } from './home.ts';
import { Journal } from './journal.ts';
import { Load } from './load.ts';
import { type Population, populate } from './population.ts';
import { findingsOf, lineOf } from './report.ts';
import { gather, play, type Stage } from './round.ts';
import { Site } from './site.ts';

// The short form of the suite. The long one has all faults, for longer: `npm run faults`.

const SEED = '1';
const MS = 600;
const SHORT = ['killReplica', 'killPostgres', 'lostAnswers', 'lockedTable'];

let home: EmbeddedHome;
let site: Site;
let stage: Stage;
/** The first user and the first client are known to no driver: nothing that got no answer can have ended what is theirs. */
let all: Population;

/** On a machine that does something else: it takes seconds otherwise. */
const PATIENCE_MS = 180_000;

beforeAll(async () => {
  home = await makeHome();
  site = new Site(home, new Journal());
  await site.start();
  all = await populate(home.ownerUrl, 3, 3);
  const people = { ...all, users: all.users.slice(1), clients: all.clients.slice(1) };
  const losing = new Set(SHORT.filter((name) => FAULTS[name]?.losesAnswers));
  stage = { site, people, load: new Load(site, people, SEED), losing, told: new Set() };
}, PATIENCE_MS);

afterAll(() => site?.close(), PATIENCE_MS);

describe('nothing is lost, doubled or untrue', { timeout: PATIENCE_MS }, () => {
  it.each(SHORT)('under load, when this happens: %s', async (name) => {
    const fault = FAULTS[name];
    const outcome = await play(stage, {
      name,
      ms: MS,
      happen: async (hold) => fault?.happen({ site, home, hold }),
    });
    console.log(`${lineOf(null)}\n${lineOf(outcome)}`);
    expect(findingsOf(outcome)).toBe('');
    expect(outcome.asked).toBeGreaterThan(0);
  });
});

/** Faults that somebody makes in the database by hand, in an authorization of those whom no driver knows. */
const BY_HAND: readonly [rule: string, statement: string][] = [
  [
    'every row of the trail was asked for',
    `insert into audit_events (kind, grant_id, user_id, reference)
     select 'rejected', grant_id, user_id, 'untrue' from grants where instance_name = 'kept'`,
  ],
  [
    'a token that was told is live until something ends it',
    `update grants set token_hash = sha256(token_hash) where instance_name = 'kept'`,
  ],
  [
    'the trail and the grants say the same',
    `update grants set revoked_at = clock_timestamp() where instance_name = 'kept'`,
  ],
  [
    'everything that was told has its row in the trail',
    `set session_replication_role = replica; delete from audit_events where instance_name = 'kept' and kind = 'exchanged'`,
  ],
];

// Each stays, so that the next one has to break a rule that held until then.
describe('the auditor finds in a real database', { timeout: PATIENCE_MS }, () => {
  beforeAll(async () => {
    const [[client], [user]] = [all.clients, all.users];
    if (client === undefined || user === undefined) throw new Error('nobody is there');
    const browser = new Browser(site, { name: 'by hand', userId: user.userId }, new Dice(SEED));
    await obtainToken(browser, client, user, { instance_name: 'kept' });
  }, PATIENCE_MS);

  it.each(BY_HAND)('what breaks this: %s', async (rule, statement) => {
    expect(Object.keys(audit(await gather(stage)))).not.toContain(rule);
    await site.ask((client) => client.query(statement));
    expect(Object.keys(audit(await gather(stage)))).toContain(rule);
  });
});
