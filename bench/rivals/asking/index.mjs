import { django } from './django.mjs';
import { hydra } from './hydra.mjs';
import { keycloak } from './keycloak.mjs';
import { ours } from './ours.mjs';
import { peer } from './peer.mjs';
import { spring } from './spring.mjs';

/** @type {Record<string, import('./adapter.mjs').Adapter>} */
const ADAPTERS = { ours, peer, hydra, keycloak, spring, django };

/** @param {import('./adapter.mjs').Target} target */
export function adapterOf({ adapter: name }) {
  const adapter = ADAPTERS[name];
  if (adapter === undefined) throw new Error(`nothing asks ${name}`);
  return adapter;
}
