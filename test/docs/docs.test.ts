import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { addCommands } from '../../src/cli/program.ts';
import type { Shell } from '../../src/cli/shell.ts';
import { AUDIT_KINDS } from '../../src/store/common/auditEvents.ts';
import { book, find, read } from './checkout.ts';

// What documents say of commands and of the trail is what the program has. `npm run lint:docs` checks the rest of them.

const namesMissing = (page: string, names: readonly string[]) =>
  names.filter((name) => !read(page).includes(`\`${name}\``));

it('docs/operate/database.md names each event of the audit trail, except those of resource servers', () => {
  const own = AUDIT_KINDS.filter((kind) => !kind.startsWith('resource_'));
  expect(namesMissing('docs/operate/database.md', own)).toEqual([]);
});

describe('the commands', () => {
  const program = new Command('assent');
  addCommands(program, {} as Shell);
  const groups = program.commands.map((command) => command.name());
  const GLOBAL = ['--json', '--help', '--version'];

  /** A problem with a call, such as `client show ID --jsn`; null for none. */
  function problemOf(call: string): string | null {
    const tokens = call.trim().split(/[\s[\]|]+/);
    let command = program;
    for (const token of tokens) {
      const inner = command.commands.find((one) => one.name() === token);
      const isGroup = command.commands.length > 0 && command.name() !== 'audit';
      if (inner === undefined && isGroup && /^[a-z]/.test(token)) return `no command: ${call}`;
      if (inner === undefined) break;
      command = inner;
    }
    const flags = tokens.filter((token) => token.startsWith('--')).map((token) => token.replace(/=.*/, ''));
    const options = [...GLOBAL, ...command.options.map(({ long }) => long)];
    const unknown = flags.filter((flag) => !options.includes(flag));
    return unknown.length > 0 ? `no option ${unknown.join(' ')}: ${call}` : null;
  }

  /** Calls in code: a span that begins with `assent`, and lines of blocks in which one of our commands follows the name. */
  function callsIn(document: string): string[] {
    const spans = find(document, /`(?:npx )?assent ([a-z-][^`]*)`/g);
    const call = new RegExp(
      `\\b(?:assent|assent\\.js|sbin/assent) ((?:${groups.join('|')})\\b[^|&;#>)'"]*)`,
      'g',
    );
    const blocks = find(document, /^```\w*\n(.*?)^```$/gms);
    const lines = blocks.flatMap((block) => [...block.replaceAll(/\\\n\s*/g, '').matchAll(call)]);
    return [...spans, ...lines.map(([, line = '']) => line.split('\n')[0] ?? '')];
  }

  it('in the documents exist, with their options', () => {
    const documents = [...book, 'CONTRIBUTING.md', 'deploy/README.md', 'examples/README.md'];
    const calls = documents.flatMap((document) => callsIn(document).map((call) => ({ document, call })));
    expect(calls.length).toBeGreaterThan(100);
    const problems = calls.map(({ document, call }) => [document, problemOf(call)]);
    expect(problems.filter(([, problem]) => problem !== null)).toEqual([]);
  });

  it('are in docs/compare.md, each group by its name', () => {
    expect(namesMissing('docs/compare.md', groups)).toEqual([]);
  });
});
