/**
 * The load, as a process of its own so that it can't slow down what it measures: a job comes in, its result goes out.
 *
 * It speaks HTTP/1.1 over plain sockets with requests that are made before the clock starts. On two cores the load shares
 * them with the server and PostgreSQL, so what it takes is missing from the figures: README.md has the comparison with
 * autocannon.
 */
import { carryOutJobs } from './jobs.mjs';
import { WORKLOADS } from './workloads.mjs';

carryOutJobs(WORKLOADS);
