import { startProgram } from '../program.mjs';
import { median } from '../rounds.mjs';
import { assentVariables, removeData, SERVE } from '../site.mjs';

/** Time from the start of the process to the first good answer. @type {import('./shared.mjs').Stage} */
export const start = {
  names: ['start'],

  async run({ site, settings, database }) {
    const startOnce = async (/** @type {Record<string, string>} */ variables) => {
      const server = await startProgram(SERVE, variables, site.file('start.log'));
      await server.stop();
      return server.readySeconds;
    };
    const embedded = { DATA_DIR: site.file('trial'), HOST: '127.0.0.1', NODE_ENV: 'test' };
    const first = await startOnce(embedded);
    const again = await times(settings.embeddedStarts, () => startOnce(embedded));
    removeData(embedded.DATA_DIR);
    const existing = await times(settings.starts, () => startOnce(assentVariables(database)));
    return {
      'start, existing database': { seconds: median(existing) },
      'start, embedded for the first time': { seconds: first },
      'start, embedded again': { seconds: median(again) },
    };
  },
};

/** @param {number} count @param {() => Promise<number>} work */
async function times(count, work) {
  const results = [];
  while (results.length < count) results.push(await work());
  return results;
}
