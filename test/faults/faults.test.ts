import { FAULTS } from './faults.ts';
import { makeHome } from './site.ts';
import { testFaults } from './suite.ts';

// The short form of the suite. The long one has all faults, for longer: `npm run faults`.

const SHORT = ['killReplica', 'killPostgres', 'lostAnswers', 'lockedTable'];

testFaults(makeHome, FAULTS, SHORT, 600, { seed: '1', users: 2, clients: 2 });
