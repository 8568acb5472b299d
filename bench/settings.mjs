import { totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

export const CHECKOUT = fileURLToPath(new URL('..', import.meta.url));
export const RESULTS = fileURLToPath(new URL('results/', import.meta.url));

/** Concurrent requests that keep the server busy. */
export const SATURATING_CONNECTIONS = 64;
/** Concurrent browsers. */
export const BROWSERS = SATURATING_CONNECTIONS;

/** People with a browser: as few as the connections would use the same rows again and again, which flatters caches. */
export const USERS = 512;

/**
 * An operator's settings (docs/operate/database.md): a quarter of memory, the starting point of PostgreSQL's manual.
 * Everything else is PostgreSQL's default.
 */
export const POSTGRES_SETTINGS = { shared_buffers: `${Math.floor(totalmem() / 4 / 2 ** 20)}MB` };

/** Amounts. `seconds` and `warmSeconds` are for one round of one line. */
const FULL = {
  rounds: 9,
  seconds: 2,
  warmSeconds: 0.2,
  pgbenchSeconds: 3,
  starts: 5,
  embeddedStarts: 5,
  grants: 50_000,
  codes: 50_000, // each is exchanged once: too few end a round early
  tokens: 50_000, // in large tables, spread over more pages than PostgreSQL's buffers hold
  listed: 1_000_000,
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
  listed: 100_000,
  growth: { sizes: [10_000, 100_000], figures: ['exchange', 'introspection', 'flow'], rounds: 2 },
  soak: { first: 10_000, all: 20_000 },
  rest: { rounds: 1, quietSeconds: 60, seconds: 3 }, // only if named
};

/**
 * @typedef {ReturnType<typeof readSettings>} Settings
 *
 * @param {string[]} args of the command line @param {string[]} stages valid names for `--only`, in order
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
