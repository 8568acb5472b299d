/**
 * The load, in its own process so that it can't slow down the measured server: it receives a job and sends its result.
 *
 * It speaks HTTP/1.1 over plain sockets with requests made before the clock starts. On two cores the load shares
 * them with the server and PostgreSQL, so its CPU is missing from the figures: README.md has the comparison with
 * autocannon.
 */
import { carryOutJobs } from './jobs.mjs';
import { WORKLOADS } from './workloads.mjs';

carryOutJobs(WORKLOADS);
