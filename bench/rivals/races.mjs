/**
 * Races: one code exchanged many times at once, an earlier token, and an authorization request posted by
 * another site:   node bench/rivals/races.mjs --products ours,hydra --times 8
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { RESULTS } from '../settings.mjs';
import { Application } from './application.mjs';
import { readShort } from './settings.mjs';
import { describeStand, openSite, startProduct } from './stand.mjs';

/** Simultaneous exchanges of one code. */
const AT_A_TIME = [50, 2];

/** A browser's headers when another site's page posts its form. */
const CROSS_SITE = {
  origin: 'https://shop.example',
  referer: 'https://shop.example/',
  'sec-fetch-site': 'cross-site',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
  accept: 'text/html',
};

const { products, postgres, times } = readShort(process.argv.slice(2), '4');
const site = await openSite(postgres);
try {
  const machine = await describeStand(site, products);
  /** @type {Record<string, Awaited<ReturnType<typeof race>>>} */
  const results = {};
  for (const name of products) {
    results[name] = await race(name);
    console.log(JSON.stringify({ [name]: results[name] }, null, 2));
  }
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(`${RESULTS}rivals-races.json`, `${JSON.stringify({ machine, results }, null, 2)}\n`);
} finally {
  await site.close();
}

/** @param {string} name */
async function race(name) {
  const { server, target } = await startProduct(site, name);
  const application = await Application.open(target);
  /** @type {Record<string, { tokens: number, alive: number, others: Record<string, number> }[]>} */
  const parallel = {};
  for (const count of AT_A_TIME) {
    const tries = [];
    while (tries.length < times) tries.push(await exchangeAtOnce(application, count));
    parallel[count] = tries;
  }
  const result = {
    parallel,
    replay: await replay(application),
    newer: await newer(application),
    crossSite: await application.postFromAnotherSite(CROSS_SITE),
  };
  application.close();
  await server.stop();
  return result;
}

/** @param {Application} application @param {number} count */
async function exchangeAtOnce(application, count) {
  const code = await application.code();
  const answers = await application.exchangeAtOnce(code, count);
  const tokens = answers.flatMap(({ token }) => token ?? []);
  /** @type {Record<string, number>} */
  const others = {};
  for (const { token, said } of answers) if (token === undefined) others[said] = (others[said] ?? 0) + 1;
  const alive = await application.alive([...new Set(tokens)]);
  return { tokens: tokens.length, alive, others };
}

/** The same code again, later. @param {Application} application */
async function replay(application) {
  const code = await application.code();
  const { token = '' } = await application.exchange(code);
  const { said } = await application.exchange(code);
  return { said, firstTokenLives: (await application.alive([token])) === 1 };
}

/** The user authorizes the same application again. @param {Application} application */
async function newer(application) {
  const { token = '' } = await application.exchange(await application.code());
  const code = await application.code();
  const livesAfterConsent = (await application.alive([token])) === 1;
  await application.exchange(code);
  return { livesAfterConsent, livesAfterExchange: (await application.alive([token])) === 1 };
}
