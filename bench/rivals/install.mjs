/** Fetches rivals from their registries and builds them:   node bench/rivals/install.mjs NAME… */
import { mkdirSync } from 'node:fs';
import { productOf } from './products.mjs';
import { FOLDER } from './servers/server.mjs';

mkdirSync(FOLDER, { recursive: true });
for (const name of process.argv.slice(2)) {
  const { install, version } = productOf(name).server;
  if (install === undefined) {
    console.log(`${name} ${version}: nothing is fetched for it; see README.md`);
    continue;
  }
  install(FOLDER);
  console.log(`${name} ${version} is in ${FOLDER}`);
}
