/**
 * The time from the process's start to the first good response, on a prepared database, and the memory three seconds
 * later:   node bench/rivals/start.mjs --products ours,hydra --times 5
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { median } from '../rounds.mjs';
import { RESULTS } from '../settings.mjs';
import { familyMemory } from '../usage.mjs';
import { readShort } from './settings.mjs';
import { describeStand, openSite, prepareProduct } from './stand.mjs';

const IDLE_MS = 3_000;

const { products, postgres, times } = readShort(process.argv.slice(2), '5');
const site = await openSite(postgres);
/** @type {Record<string, { first: number, seconds: number[], memory: number[] }>} */
const started = {};
try {
  const machine = await describeStand(site, products);
  for (const name of products) {
    started[name] = await startTimes(name);
    const { first, seconds, memory } = started[name];
    console.log(
      `${name}: ${fixed(median(seconds))} s (the first time ${fixed(first)} s), idle ${Math.round(median(memory) ?? NaN)} MB`,
    );
  }
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(`${RESULTS}rivals-start.json`, `${JSON.stringify({ machine, started }, null, 2)}\n`);
} finally {
  await site.close();
}

/** The first start does more (Keycloak makes its tables), so it is separate. @param {string} name */
async function startTimes(name) {
  const { launch } = await prepareProduct(site, name);
  const once = () => site.keep(launch);
  const first = await once();
  await first.stop();
  const seconds = [];
  const memory = [];
  while (seconds.length < times) {
    const server = await once();
    seconds.push(server.readySeconds);
    await sleep(IDLE_MS);
    memory.push(familyMemory(server.pid));
    await server.stop();
  }
  return { first: first.readySeconds, seconds, memory };
}

/** @param {number | null} value */
function fixed(value) {
  return (value ?? NaN).toFixed(2);
}
