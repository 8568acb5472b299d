import { setTimeout as sleep } from 'node:timers/promises';
import { inTurn } from '../rounds.mjs';
import { CAN_SEE_USAGE } from '../usage.mjs';
import { flowRound } from './flows.mjs';

/** The cost of the first flows after an idle minute, compared with the flows before it. @type {import('./shared.mjs').Stage} */
export const rest = {
  names: ['rest'],

  async run(bench) {
    const { site, settings, server, loader, database } = bench;
    const { rounds, quietSeconds, seconds } = settings.rest;
    // A minute for each round: the short form includes it only on request.
    if (!CAN_SEE_USAGE || (settings.quick && settings.only === null)) return {};
    const busy = { ...bench, settings: { ...settings, seconds } };
    const prepare = () => flowRound(busy, server, database, 'flow');
    const rested = async () => {
      await sleep(quietSeconds * 1000);
      return flowRound({ ...busy, settings: { ...busy.settings, warmSeconds: 0 } }, server, database, 'flow');
    };
    await prepare().then(({ run }) => run(() => {}));
    const lines = [
      { name: 'flow, steady', server, loader, prepare },
      { name: 'flow, after a minute of quiet', server, loader, prepare: rested },
    ];
    return inTurn(lines, rounds, site.postmaster);
  },
};
