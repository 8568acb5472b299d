import { expect } from 'vitest';
import { runAssent } from '../support/process/process.ts';

type Finding = Readonly<Record<'check' | 'level' | 'text', string>> & { readonly remedy: string | null };

export async function doctor(variables: Record<string, string>, ...options: string[]) {
  const { code, stdout, stderr } = await runAssent(['doctor', '--json', ...options], variables);
  expect(stderr).toBe('');
  const findings: Finding[] = JSON.parse(stdout);
  const found = Object.fromEntries(findings.map((finding) => [finding.check, finding]));
  return { code, findings, found, troubles: troublesIn(findings) };
}

export const troublesIn = (findings: readonly Pick<Finding, 'check' | 'level'>[]) =>
  Object.fromEntries(
    findings.filter(({ level }) => level !== 'ok').map(({ check, level }) => [check, level]),
  );
