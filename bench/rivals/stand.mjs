import { describeMachine } from '../machine.mjs';
import { POSTGRES_SETTINGS, USERS } from '../settings.mjs';
import { Site } from '../site.mjs';
import { postgresOnTcp } from './postgres.mjs';
import { productOf } from './products.mjs';

/** All pools together. */
const POSTGRES = { ...POSTGRES_SETTINGS, max_connections: '300' };

/** One PostgreSQL for several products. @param {string | undefined} postgres the folder of its programs */
export async function openSite(postgres) {
  const site = await Site.open(POSTGRES, postgresOnTcp(postgres));
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => void site.close().finally(() => process.exit(1)));
  }
  return site;
}

/** A product with its tables made, and nothing started. @param {Site} site @param {string} name for {@link productOf} */
export async function prepareProduct(site, name) {
  const { server, ...product } = productOf(name);
  const database = name.replaceAll(/\W/g, '_');
  return { ...product, ...(await server.prepare({ ...product, site, database })) };
}

/**
 * @typedef {{ target: import('./asking/adapter.mjs').Target, server: import('../program.mjs').Program }} Running
 *
 * @param {Site} site @param {string} name @returns {Promise<Running>} a running product
 */
export async function startProduct(site, name) {
  process.stderr.write(`starting ${name}\n`);
  const { product, name: adapter, launch, register } = await prepareProduct(site, name);
  const server = await site.keep(launch);
  const { port } = server;
  return { server, target: { product, adapter, port, users: USERS, ...(await register(server)) } };
}

/** The measured environment. @param {Site} site @param {string[]} products */
export async function describeStand(site, products) {
  const versions = products.map((name) => [name, productOf(name).server.version]);
  return { ...(await describeMachine(site)), products: Object.fromEntries(versions) };
}
