import { totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

export const CHECKOUT = fileURLToPath(new URL('..', import.meta.url));
export const RESULTS = fileURLToPath(new URL('results/', import.meta.url));

/** Questions at the same time where the server is to be busy all the time. */
export const SATURATING_CONNECTIONS = 64;
/** Browsers at the same time. */
export const BROWSERS = SATURATING_CONNECTIONS;

/**
 * What an operator sets (docs/operate/database.md): of the machine's memory the quarter that PostgreSQL's manual begins with.
 * Everything else is as PostgreSQL is shipped.
 */
export const POSTGRES_SETTINGS = { shared_buffers: `${Math.floor(totalmem() / 4 / 2 ** 20)}MB` };

/** How much of everything. `seconds` and `warmSeconds` are of one round of one line. */
const FULL = {
  rounds: 9,
  seconds: 2,
  warmSeconds: 0.2,
  pgbenchSeconds: 3,
  starts: 5,
  embeddedStarts: 5,
  grants: 50_000,
  codes: 50_000, // each is exchanged once: fewer end a round early
  tokens: 50_000, // spread over more pages than PostgreSQL's buffers hold, in the large tables
  growth: {
    sizes: [10_000, 1_000_000, 10_000_000],
    figures: ['exchange', 'introspection', 'page', 'approval', 'flow'],
    rounds: 5,
  },
  soak: { first: 50_000, all: 1_000_000 },
  rest: { rounds: 3, quietSeconds: 60, seconds: 3 },
};
const QUICK = {
  rounds: 3,
  seconds: 0.5,
  warmSeconds: 0.1,
  pgbenchSeconds: 1,
  starts: 3,
  embeddedStarts: 1,
  grants: 10_000,
  codes: 10_000,
  tokens: 10_000,
  growth: { sizes: [10_000, 100_000], figures: ['exchange', 'introspection', 'flow'], rounds: 2 },
  soak: { first: 10_000, all: 20_000 },
  rest: { rounds: 1, quietSeconds: 60, seconds: 3 }, // only when it is named
};

/**
 * @typedef {ReturnType<typeof readSettings>} Settings
 *
 * @param {string[]} args of the command line @param {string[]} stages what `--only` may name, in order
 */
export function readSettings(args, stages) {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      against: { type: 'string' },
      profile: { type: 'boolean', default: false },
      out: { type: 'string', default: `${RESULTS}latest.json` },
    },
  });
  const only = values.only?.split(',') ?? null;
  const unknown = only?.filter((name) => !stages.includes(name)) ?? [];
  if (unknown.length > 0) throw new Error(`--only knows ${stages.join(', ')}; not ${unknown.join(', ')}`);
  const { quick, profile, out } = values;
  const against = values.against?.split(',') ?? [];
  return { ...(quick ? QUICK : FULL), quick, profile, out, only, against };
}
