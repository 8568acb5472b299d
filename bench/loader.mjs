import { fork } from 'node:child_process';
import { on, once } from 'node:events';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('load/main.mjs', import.meta.url));

/** A load process; see `load/`. */
export class Loader {
  #child;
  #ended;

  /** @param {string} [main] the program, a load process */
  constructor(main = MAIN) {
    this.#child = fork(main, { serialization: 'advanced' });
    this.#ended = once(this.#child, 'exit');
  }

  get pid() {
    return this.#child.pid;
  }

  /**
   * @param {import('./load/drive.mjs').Job} job
   * @param {() => void} [onCounting] called when answers begin to count
   */
  async run(job, onCounting = () => {}) {
    const messages = on(this.#child, 'message', { close: ['exit'] });
    this.#child.send(job);
    for await (const [{ counting, result, failure }] of messages) {
      if (counting) onCounting();
      if (failure !== undefined) throw new Error(`the load for ${job.workload} failed: ${failure}`);
      if (result !== undefined) return result;
    }
    throw new Error(`the load for ${job.workload} ended`);
  }

  async stop() {
    if (this.#child.connected) this.#child.disconnect();
    await this.#ended;
  }
}
