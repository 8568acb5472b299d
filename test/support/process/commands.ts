import { expect } from 'vitest';
import { onDatabase, runAssent } from './process.ts';

export const commandsOf = ({ url }: { readonly url: string }) => commandsOn(onDatabase(url));

export function commandsOn(variables: Record<string, string>) {
  /** @param line as it is typed: `client create --name "My Shop"` */
  const assent = (line: string, stdin?: string) => runAssent(wordsOf(line), variables, stdin);
  return {
    assent,
    async json<Document = Record<string, string>>(line: string, stdin?: string): Promise<Document> {
      const { code, stdout, stderr } = await assent(`${line} --json`, stdin);
      expect({ line, code, stderr }).toEqual({ line, code: 0, stderr: '' });
      return JSON.parse(stdout);
    },
    /** Expects that it is refused, and nothing printed. @returns the sentence that says why */
    async refused(line: string, code: 1 | 2): Promise<string> {
      const { stderr, ...run } = await assent(line);
      expect({ line, ...run }).toEqual({ line, code, stdout: '' });
      return stderr;
    },
  };
}

function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word);
}
