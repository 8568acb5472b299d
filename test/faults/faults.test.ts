import { expect, it } from 'vitest';
import { obtainToken } from '../support/flow.ts';
import { audit } from './auditor.ts';
import { Browser } from './browser.ts';
import { Dice } from './dice.ts';
import { FAULTS } from './faults.ts';
import { makeHome } from './home.ts';
import { populate } from './population.ts';
import { gather } from './round.ts';
import { testFaults } from './suite.ts';

// The short form of the suite. The long one has all faults, for longer: `npm run faults`.

const SEED = '1';
const SHORT = ['killReplica', 'killPostgres', 'lostAnswers', 'lockedTable'];

const stage = testFaults(makeHome, FAULTS, SHORT, 600, { seed: SEED, users: 2, clients: 2 });

it('the auditor finds a token deleted by hand', async () => {
  const { site, home } = stage();
  // No driver knows them: nothing that got no answer can have ended what is theirs.
  const { users, clients } = await populate(home.ownerUrl, 1, 1);
  const browser = new Browser(site, { name: 'by hand', userId: users[0].userId }, new Dice(SEED));
  await obtainToken(browser, clients[0], users[0], { instance_name: 'kept' });
  expect(audit(await gather(stage()))).toEqual({});
  await home.postgres.run(`update grants set token_hash = sha256(token_hash) where instance_name = 'kept'`);
  const findings = Object.keys(audit(await gather(stage())));
  expect(findings).toContain('a token that was told is live until something ends it');
});
