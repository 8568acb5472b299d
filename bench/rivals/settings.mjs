import { parseArgs } from 'node:util';
import { RESULTS, USERS } from '../settings.mjs';

/** @typedef {ReturnType<typeof readSettings>} Settings */

const PRODUCTS = 'ours,peer,hydra,keycloak,spring,django';

/** The options of every program here. */
const COMMON = /** @type {const} */ ({
  products: { type: 'string', default: PRODUCTS },
  postgres: { type: 'string' },
});

/** @param {string[]} args of the command line of `run.mjs` */
export function readSettings(args) {
  const { values } = parseArgs({
    args,
    options: {
      ...COMMON,
      lanes: { type: 'string', default: '64,16' },
      rounds: { type: 'string', default: '4' },
      warmup: { type: 'string', default: '900' },
      window: { type: 'string', default: '20' },
      warm: { type: 'string', default: '2' },
      flow: { type: 'string', default: '3' },
      front: { type: 'string', default: '5' },
      introspection: { type: 'string', default: '1.5' },
      out: { type: 'string', default: `${RESULTS}rivals.json` },
    },
  });
  const lanes = values.lanes.split(',').map(Number);
  if (Math.max(...lanes) > USERS) throw new Error(`--lanes: at most ${USERS}, a user for each`);
  return {
    products: values.products.split(','),
    postgres: values.postgres,
    lanes,
    rounds: Number(values.rounds),
    warmup: Number(values.warmup),
    window: Number(values.window),
    warm: Number(values.warm),
    seconds: {
      flow: Number(values.flow),
      front: Number(values.front),
      introspection: Number(values.introspection),
    },
    out: values.out,
  };
}

/** Of `races.mjs` and `start.mjs`. @param {string[]} args @param {string} times the default number */
export function readShort(args, times) {
  const options = { ...COMMON, times: { type: /** @type {const} */ ('string'), default: times } };
  const { values } = parseArgs({ args, options });
  const { postgres } = values;
  return { products: values.products.split(','), postgres, times: Number(values.times) };
}
