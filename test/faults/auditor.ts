import type { Entry, Evidence } from './evidence.ts';
import { ANSWER_RULES } from './rules/answers.ts';
import { PAYMENT_RULES } from './rules/payments.ts';
import { STORY_RULES } from './rules/stories.ts';
import { TOKEN_RULES } from './rules/tokens.ts';
import { TRAIL_RULES } from './rules/trail.ts';

/** A property that holds, whatever fails. */
export interface Rule {
  readonly name: string;
  find(evidence: Evidence): string[];
}

export const RULES: readonly Rule[] = [
  ...TOKEN_RULES,
  ...TRAIL_RULES,
  ...STORY_RULES,
  ...PAYMENT_RULES,
  ...ANSWER_RULES,
];

/** The time after a takeover in which a replica with several hosts may answer from the former primary (`test/ha/README.md`). */
const OVERTAKEN_MS = 3_000;

/** The evidence without answers that may come from a former primary: introspections, and refusals. */
export function withoutOvertaken({ overtakenAt, ...evidence }: Evidence): Evidence {
  const isSoon = ({ toldAt }: Entry) => overtakenAt.some((at) => at <= toldAt && toldAt <= at + OVERTAKEN_MS);
  const mayBeOutdated = ({ act, told }: Entry) => act === 'introspect' || told === 'refused';
  const entries = evidence.entries.filter((entry) => !(mayBeOutdated(entry) && isSoon(entry)));
  return { ...evidence, overtakenAt, entries };
}

/** @param told findings to leave out @returns the findings of each rule that has some */
export function audit(evidence: Evidence, told: ReadonlySet<string> = new Set()): Record<string, string[]> {
  const untold = ({ find }: Rule) => find(evidence).filter((finding) => !told.has(finding));
  const findings = RULES.map((rule) => [rule.name, untold(rule)] as const);
  return Object.fromEntries(findings.filter(([, found]) => found.length > 0));
}
