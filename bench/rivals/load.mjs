/** The load of the comparison: its own process, like `bench/load/`. */
import { carryOutJobs } from '../load/jobs.mjs';
import { WORKLOADS } from './workloads.mjs';

carryOutJobs(WORKLOADS);
