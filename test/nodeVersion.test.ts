import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { nodeVersionProblem } from '../src/process/nodeVersion.ts';
import { runAssent } from './support/process/process.ts';

it.each([
  ['18.20.8', '6.1.1', false],
  ['20.19.1', '8.1.2', false],
  ['20.0.0', '9.2.0', false],
  ['22.0.0', undefined, false],
  ['20.19.2', '9.2.1', true],
  ['26.10.0', '9.4.3', true],
  ['30.0.0', '9.10.0', true],
  ['32.0.0', '10.0.0', true],
])('only Node with a safe llhttp is accepted: Node %s, llhttp %s (accepted: %s)', (node, llhttp, isTaken) => {
  const sentence = `this is ${node}, whose HTTP parser (llhttp ${llhttp ?? 'unknown'})`;
  expect(nodeVersionProblem({ node, llhttp })).toEqual(isTaken ? null : expect.stringContaining(sentence));
});

it('a command on an unsupported Node prints the reason to stderr, and does nothing', async () => {
  const preload = `Object.defineProperty(process, 'versions', { value: { node: '20.19.1', llhttp: '8.1.2' } })`;
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(preload)}`;
  const { code, stdout, stderr } = await runAssent(['serve'], { NODE_OPTIONS });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toBe(`${nodeVersionProblem({ node: '20.19.1', llhttp: '8.1.2' })}\n`);
});

it('package.json, README.md and the refusal name the same lowest Node version', () => {
  const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
  const [, lowest] = /"node": "\^([\d.]+)/.exec(read('package.json')) ?? [];
  expect(nodeVersionProblem({ node: 'x' })).toContain(`Node ${lowest}`);
  expect(read('README.md')).toContain(`Node ${lowest}`);
});
