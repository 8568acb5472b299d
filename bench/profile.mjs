import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RESULTS } from './settings.mjs';

const LONGEST_LIST = 25;
const IDLE = '(idle)';

/** Node's options for writing a CPU profile when it ends. */
export const PROFILING = ['--cpu-prof', `--cpu-prof-dir=${RESULTS}`];

/** An ended server's CPU time by function, busiest first. @param {number} pid */
export function describeProfile(pid) {
  const file = readdirSync(RESULTS).find((name) => name.endsWith('.cpuprofile') && name.includes(`.${pid}.`));
  if (file === undefined) throw new Error(`the server ${pid} left no profile`);
  const times = selfTimes(JSON.parse(readFileSync(join(RESULTS, file), 'utf8')));
  const idle = times.get(IDLE) ?? 0;
  times.delete(IDLE);
  const busy = [...times.values()].reduce((sum, time) => sum + time, 0);
  const busiest = [...times].sort(([, a], [, b]) => b - a).slice(0, LONGEST_LIST);
  const lines = busiest.map(([place, time]) => `${percent(time / busy)}  ${place}`);
  return [`Profile: bench/results/${file}, busy ${percent(busy / (busy + idle))} of the time`, ...lines].join(
    '\n',
  );
}

/** Self time by function. @param {import('node:inspector').Profiler.Profile} profile */
function selfTimes({ nodes, samples = [], timeDeltas = [] }) {
  const places = new Map(nodes.map(({ id, callFrame }) => [id, placeOf(callFrame)]));
  const times = new Map();
  samples.forEach((id, index) => {
    const place = places.get(id);
    times.set(place, (times.get(place) ?? 0) + timeDeltas[index]);
  });
  return times;
}

/** @param {import('node:inspector').Runtime.CallFrame} frame */
function placeOf({ functionName, url, lineNumber }) {
  if (url === '') return functionName || '(anonymous)';
  const file = url.replace(/^.*\/(node_modules|dist)\//, '$1/');
  return `${functionName || '(anonymous)'} ${file}:${lineNumber + 1}`;
}

/** @param {number} share */
const percent = (share) => `${(share * 100).toFixed(1)} %`.padStart(7);
