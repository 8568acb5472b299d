/**
 * The load, as a process of its own so that it can't slow down what it measures: a job comes in, its result goes out.
 *
 * It speaks HTTP/1.1 over plain sockets with requests that are made before the clock starts. On two cores the load shares
 * them with the server and PostgreSQL, so what it takes is missing from the figures: README.md has the comparison with
 * autocannon.
 */
import { drive } from './drive.mjs';
import { WORKLOADS } from './workloads.mjs';

/** @param {object} message */
const tell = (message) => process.send?.(message);

process.on('message', async (/** @type {import('./drive.mjs').Job} */ job) => {
  try {
    const workload = WORKLOADS[job.workload];
    if (workload === undefined) throw new Error(`there is no workload ${job.workload}`);
    tell({ result: await drive(job, workload, () => tell({ counting: true })) });
  } catch (error) {
    tell({ failure: error instanceof Error ? error.stack : error });
  }
});
process.on('disconnect', () => process.exit());
