import { installPeer, lockedPeerVersion, peerCommand } from '../../peer.mjs';
import { startProgram } from '../../program.mjs';
import { SHOP } from './server.mjs';

/** node-oidc-provider as in `npm run bench`: `bench/peer/`. @type {import('./server.mjs').Server} */
export const peer = {
  version: lockedPeerVersion(),

  async prepare({ site, database, node }) {
    await site.createEmptyDatabase(database);
    installPeer();
    const { args, variables } = peerCommand(site.urlOf(database), SHOP);
    return {
      launch: () => startProgram(args, variables, site.file(`${database}.log`), node),
      register: async ({ port }) => ({ client: SHOP, api: SHOP, apiPort: port }),
    };
  },
};
