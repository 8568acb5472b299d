import type { Outcome } from './round.ts';

const COLUMNS: [title: string, of: (outcome: Outcome) => string | number][] = [
  ['fault', ({ fault }) => fault],
  ['asked', ({ asked }) => asked],
  ['503', ({ unavailable }) => unavailable],
  ['not reached', ({ unreached }) => unreached],
  ['no answer', ({ unanswered }) => unanswered],
  ['503 and done', ({ doneThough503 }) => doneThough503],
  ['no answer and done', ({ doneUnanswered }) => doneUnanswered],
  ['outage in s', ({ outageSeconds }) => outageSeconds.toFixed(1)],
  ['recovered in s', ({ recoverySeconds }) => recoverySeconds.toFixed(1)],
  ['findings', ({ findings }) => Object.values(findings).flat().length],
];

/** One outcome as a line of columns; the first line is the head. */
export function lineOf(outcome: Outcome | null): string {
  const cells = COLUMNS.map(([title, of]) => {
    const text = outcome === null ? title : String(of(outcome));
    return title === 'fault' ? text.padEnd(18) : text.padStart(Math.max(8, title.length));
  });
  return cells.join('  ');
}

const SHOWN = 5;

/** What was found, rule by rule; empty where all is well. */
export function findingsOf({ fault, findings }: Outcome): string {
  return Object.entries(findings)
    .map(([rule, found]) => {
      const shown = found.slice(0, SHOWN).map((finding) => `\n    ${finding}`);
      return `  not so in ${fault}: ${rule} (${found.length})${shown.join('')}`;
    })
    .join('\n');
}
