import { readdirSync, readFileSync } from 'node:fs';

/** Linux reports CPU time in hundredths of a second to all programs. */
const TICKS_PER_SECOND = 100;
const KIB_PER_MB = 1024;

/** True if this machine reports the usage of processes, as Linux does. */
export const CAN_SEE_USAGE = process.platform === 'linux';

/** CPU seconds used by a process so far. @param {number} pid */
export function cpuSeconds(pid) {
  return own(mustBe(statOf(pid)));
}

/** CPU seconds of a server and its child processes, ended ones too. @param {number} pid of its first process */
export function familyCpuSeconds(pid) {
  const stat = mustBe(statOf(pid));
  const ended = (stat.endedUser + stat.endedSystem) / TICKS_PER_SECOND;
  return childrenOf(pid)
    .map(own)
    .reduce((sum, seconds) => sum + seconds, own(stat) + ended);
}

/** Current and peak resident memory, in MB. @param {number} pid */
export function memory(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return { now: kibField(status, 'VmRSS'), highest: kibField(status, 'VmHWM') };
}

/** Memory of all PostgreSQL processes in MB, shared memory counted once. @param {number} postmaster */
export function postgresMemory(postmaster) {
  const rollups = rollupsOf(postmaster);
  return rollups.reduce((sum, text) => sum + kibField(text, 'Pss'), 0);
}

/**
 * Memory of a server and its child processes in MB, shared memory counted once, even if others share it.
 *
 * @param {number} first its first process
 */
export function familyMemory(first) {
  const rollups = rollupsOf(first);
  const sumOf = (/** @type {string} */ text, /** @type {string} */ kind) =>
    kibField(text, `${kind}_Clean`) + kibField(text, `${kind}_Dirty`);
  const own = rollups.reduce((sum, text) => sum + sumOf(text, 'Private'), 0);
  return own + Math.max(0, ...rollups.map((text) => sumOf(text, 'Shared')));
}

/** @param {number} first */
function rollupsOf(first) {
  const pids = [first, ...childrenOf(first).map(({ pid }) => pid)];
  return pids.map((pid) => readOrNothing(`/proc/${pid}/smaps_rollup`)).filter((text) => text !== '');
}

/** @param {number} pid */
export function parentOf(pid) {
  return mustBe(statOf(pid)).parent;
}

/** @typedef {{ pid: number, parent: number, user: number, system: number, endedUser: number, endedSystem: number }} Stat */

/** @param {Stat | undefined} stat */
function mustBe(stat) {
  if (stat === undefined) throw new Error('a process has ended');
  return stat;
}

/** @param {Stat} stat */
function own({ user, system }) {
  return (user + system) / TICKS_PER_SECOND;
}

/** @param {number} parent @returns {Stat[]} */
function childrenOf(parent) {
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return processes.flatMap((name) => statOf(Number(name)) ?? []).filter((stat) => stat.parent === parent);
}

/**
 * Fields of `/proc/PID/stat` after the name, which may contain any character.
 *
 * @param {number} pid @returns {Stat | undefined} undefined when the process has ended
 */
function statOf(pid) {
  const stat = readOrNothing(`/proc/${pid}/stat`);
  if (stat === '') return undefined;
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [user = NaN, system = NaN, endedUser = NaN, endedSystem = NaN] = fields.slice(11, 15);
  return { pid, parent: fields[1] ?? NaN, user, system, endedUser, endedSystem };
}

/** Processes may end at any moment. @param {string} file */
function readOrNothing(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** @param {string} text @param {string} name */
function kibField(text, name) {
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1]) / KIB_PER_MB;
}
