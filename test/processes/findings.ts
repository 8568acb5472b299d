import { expect } from 'vitest';
import { runAssent } from '../support/process/process.ts';

export interface Finding {
  readonly check: string;
  readonly level: 'ok' | 'advice' | 'error';
  readonly text: string;
  readonly remedy: string | null;
}

export async function doctor(variables: Record<string, string>, ...options: string[]) {
  const { code, stdout, stderr } = await runAssent(['doctor', '--json', ...options], variables);
  expect(stderr).toBe('');
  return { code, findings: JSON.parse(stdout) as Finding[] };
}

export const troublesIn = (findings: readonly Pick<Finding, 'check' | 'level'>[]) =>
  Object.fromEntries(
    findings.filter(({ level }) => level !== 'ok').map(({ check, level }) => [check, level]),
  );
