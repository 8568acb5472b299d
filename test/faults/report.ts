import type { Entry } from './journal.ts';
import type { Outcome } from './round.ts';
import { doneAllTheSame } from './rules/trail.ts';

const during = ({ fault, evidence }: Outcome) => evidence.entries.filter((entry) => entry.during === fault);
const told = (what: Entry['told']) => (outcome: Outcome) =>
  during(outcome).filter((entry) => entry.told === what).length;
const done = (what: Entry['told']) => (outcome: Outcome) =>
  doneAllTheSame(outcome.evidence, what).filter((entry) => entry.during === outcome.fault).length;

function outageSeconds(outcome: Outcome): string {
  const times = during(outcome).flatMap((entry) => (entry.told === 'done' ? entry.toldAt : []));
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? time));
  return (Math.max(0, ...gaps) / 1_000).toFixed(1);
}

const COLUMNS: Record<string, (outcome: Outcome) => string | number> = {
  asked: (outcome) => during(outcome).length,
  'got 503': told('unavailable'),
  'not reached': told('unreached'),
  'no answer': told('nothing'),
  '503 and done': done('unavailable'),
  'no answer and done': done('nothing'),
  'outage in s': outageSeconds,
  'recovered in s': ({ recoverySeconds }) => recoverySeconds.toFixed(1),
  'within 3 s of a takeover': ({ soon }) => soon.length,
  findings: ({ findings }) => Object.values(findings).flat().length,
};

/** One outcome as a line of columns; the first line is the head. */
export function lineOf(outcome: Outcome | null): string {
  const cells = Object.entries(COLUMNS).map(([title, of]) =>
    String(outcome === null ? title : of(outcome)).padStart(Math.max(8, title.length)),
  );
  return [(outcome?.fault ?? 'fault').padEnd(18), ...cells].join('  ');
}

export function findingsOf({ fault, findings }: Outcome): string {
  const lines = Object.entries(findings).flatMap(([rule, found]) => [
    `  not so in ${fault}: ${rule} (${found.length})`,
    ...found.slice(0, 5).map((finding) => `    ${finding}`),
  ]);
  return lines.join('\n');
}
