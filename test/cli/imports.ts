import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { doctor, troublesIn } from '../processes/findings.ts';
import { introspect } from '../support/flow.ts';
import { commandsOn } from '../support/process/commands.ts';
import { fileIn, useFolder } from '../support/process/folder.ts';
import { onDatabase } from '../support/process/process.ts';
import { type ServerOptions, useServer } from '../support/server.ts';

// The commands that import users, applications and tokens of an old service.

export type Kind = 'user' | 'client' | 'grant';
export type Row = Record<string, unknown>;
export type Rows = readonly (Row | string)[];

interface Report extends Row {
  readonly imported: number;
  readonly bad_lines: readonly Row[];
}

export const some = (prefix: string) => `${prefix}-${randomBytes(4).toString('hex')}`;

export const clientOf = (more: Row = {}) => ({
  ...{ client_id: some('c'), name: 'Old Shop', redirect_uri: 'https://old.example/back' },
  ...more,
});

export async function useImports(options: ServerOptions = {}) {
  const server = await useServer(options);
  const folder = useFolder();
  const variables = { ...onDatabase(server.database.url), ASSENT_OPERATOR: 'mover' };
  const { assent, json } = commandsOn(variables);
  const resource = await server.createResource();

  /** In a file, because the ledger takes the first lines of standard input for passwords. */
  function fileOf(rows: Rows): string {
    const lines = rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`);
    return fileIn(folder, some('rows'), lines.join(''));
  }

  /** Imports with `--json`, and expects the right exit code and no secret of the rows in the output. @returns its document */
  async function imports(kind: Kind, rows: Rows, more = ''): Promise<Report> {
    const { code, stdout, stderr } = await assent(`${kind} import ${fileOf(rows)} ${more} --json`);
    expect(stderr).toBe('');
    const { lines, ...report } = JSON.parse(stdout);
    const { imported, unchanged, skipped, bad, updated = 0, newer_here = 0 } = report;
    expect(lines).toBe(imported + unchanged + skipped + bad + updated + newer_here);
    expect(code).toBe(bad > 0 ? 1 : 0);
    const given = rows.flatMap((row) => (typeof row === 'string' ? [] : Object.entries(row)));
    for (const [name, value] of given)
      if (/hash|token|secret/.test(name) && typeof value === 'string' && value.length > 8)
        expect(stdout).not.toContain(value);
    return report;
  }

  /** The counts, without those that are 0. */
  async function counts(kind: Kind, rows: Rows, more = '') {
    const report = Object.entries(await imports(kind, rows, more));
    return Object.fromEntries(report.filter(([, count]) => typeof count === 'number' && count > 0));
  }

  const isActive = async (token: unknown) => (await introspect(server, resource, String(token))).active;

  const expectConsistent = async () =>
    expect(troublesIn((await doctor(variables, '--invariants')).findings)).toEqual({});

  return {
    ...{ server, folder, variables, resource, assent, json },
    ...{ fileOf, imports, counts, isActive, expectConsistent },
  };
}
