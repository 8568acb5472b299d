import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts CPU time in hundredths of a second for every program that reads it. */
const TICKS_PER_SECOND = 100;
const KIB_PER_MB = 1024;

/** Whether this machine tells what processes use: Linux does. */
export const CAN_SEE_USAGE = process.platform === 'linux';

/** CPU seconds that a process used so far. */
export function cpuSeconds(pid) {
  return own(statOf(pid));
}

/** CPU seconds of all of PostgreSQL: the postmaster, the processes it has, and those that ended. */
export function postgresCpuSeconds(postmaster) {
  const stat = statOf(postmaster);
  const ended = (stat.endedUser + stat.endedSystem) / TICKS_PER_SECOND;
  return childrenOf(postmaster)
    .map(own)
    .reduce((sum, seconds) => sum + seconds, own(stat) + ended);
}

/** Resident memory now and at its highest, in MB. */
export function memory(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return { now: kibField(status, 'VmRSS'), highest: kibField(status, 'VmHWM') };
}

/** Memory of all of PostgreSQL in MB, what its processes share counted once. */
export function postgresMemory(postmaster) {
  const pids = [postmaster, ...childrenOf(postmaster).map(({ pid }) => pid)];
  const shares = pids.map((pid) => readOrNothing(`/proc/${pid}/smaps_rollup`)).filter((text) => text !== '');
  return shares.reduce((sum, text) => sum + kibField(text, 'Pss'), 0);
}

export function parentOf(pid) {
  return statOf(pid).parent;
}

function own({ user, system }) {
  return (user + system) / TICKS_PER_SECOND;
}

function childrenOf(parent) {
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return processes.map(statOf).filter((stat) => stat?.parent === parent);
}

/** Fields of `/proc/PID/stat` behind the name, which may hold anything; undefined when the process has ended. */
function statOf(pid) {
  const stat = readOrNothing(`/proc/${pid}/stat`);
  if (stat === '') return undefined;
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [user, system, endedUser, endedSystem] = fields.slice(11, 15);
  return { pid, parent: fields[1], user, system, endedUser, endedSystem };
}

/** Processes end at any moment. */
function readOrNothing(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function kibField(text, name) {
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1]) / KIB_PER_MB;
}
