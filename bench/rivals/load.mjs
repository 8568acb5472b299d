/** The load of the comparison: a process of its own, as `bench/load/` is. */
import { carryOutJobs } from '../load/jobs.mjs';
import { WORKLOADS } from './workloads.mjs';

carryOutJobs(WORKLOADS);
