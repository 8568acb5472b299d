import { drive } from './drive.mjs';

/** @param {object} message */
const tell = (message) => process.send?.(message);

/**
 * Makes this process a load process: it receives a job and sends its result.
 *
 * @param {Record<string, import('./drive.mjs').Workload>} workloads the available ones
 */
export function carryOutJobs(workloads) {
  process.on('message', async (/** @type {import('./drive.mjs').Job} */ job) => {
    try {
      const workload = workloads[job.workload];
      if (workload === undefined) throw new Error(`there is no workload ${job.workload}`);
      tell({ result: await drive(job, workload, () => tell({ counting: true })) });
    } catch (error) {
      tell({ failure: error instanceof Error ? error.stack : error });
    }
  });
  process.on('disconnect', () => process.exit());
}
