import { expect } from 'vitest';
import { type Run, runAssent } from './process.ts';

export interface Commands {
  /** @param line as it is typed: `client create --name "My Shop"` */
  assent(line: string, stdin?: string): Promise<Run>;
  /** The one document that it prints with `--json`, and nothing else. */
  json<Document = Record<string, string>>(line: string, stdin?: string): Promise<Document>;
  /** Expects that it is refused, and nothing printed. @returns the sentence that says why */
  refused(line: string, code: 1 | 2): Promise<string>;
}

export function commandsOn(variables: Record<string, string>): Commands {
  const assent = (line: string, stdin?: string) => runAssent(wordsOf(line), variables, stdin);
  return {
    assent,
    async json(line, stdin) {
      const { code, stdout, stderr } = await assent(`${line} --json`, stdin);
      expect({ line, code, stderr }).toEqual({ line, code: 0, stderr: '' });
      return JSON.parse(stdout);
    },
    async refused(line, code) {
      const { stderr, ...run } = await assent(line);
      expect({ line, ...run }).toEqual({ line, code, stdout: '' });
      return stderr;
    },
  };
}

/** Words end at spaces, but for those in quotes. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word);
}
