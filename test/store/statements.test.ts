import { readdirSync } from 'node:fs';
import type pg from 'pg';
import { expect, it, vi } from 'vitest';
import type { Query } from '../../src/store/database/statement.ts';
import { useDatabase } from '../support/postgres/database.ts';
import { withClient } from '../support/postgres/postgres.ts';

// PostgreSQL confirms that every statement fits the schema, and tells the types of its parameters and columns. A review
// compares the changes of statements.sql, which has each statement as it runs, with the interfaces in `src/store/`.

const STORE = new URL('../../src/store/', import.meta.url);

/** For a statement without a name. */
function beginningOf(text: string): string {
  return `'${text.trim().replaceAll(/\s+/g, ' ').slice(0, 60)}…'`;
}

/** Loads all of the store anew, and keeps each statement that it makes meanwhile. */
async function findStatements(): Promise<Map<string, Query>> {
  const found = new Map<string, Query>();
  const keep = <Made extends (values: never) => Query>(made: Made, values: unknown): Made => {
    const query = made(values as never);
    found.set(query.name || beginningOf(query.text), query);
    return made;
  };
  const anything = new Proxy({}, { get: () => null });
  const actual = await import('../../src/store/database/statement.ts');
  const statement: typeof actual.statement = (name, text) => keep(actual.statement(name, text), anything);
  const batchStatement: typeof actual.batchStatement = (name, text, computed) =>
    keep(actual.batchStatement(name, text, computed), []);
  vi.doMock('../../src/store/database/statement.ts', () => ({ ...actual, statement, batchStatement }));
  vi.resetModules();
  try {
    const files = readdirSync(STORE, { recursive: true, encoding: 'utf8' });
    for (const file of files.filter((name) => name.endsWith('.ts'))) await import(`${STORE}${file}`);
  } finally {
    vi.doUnmock('../../src/store/database/statement.ts');
    vi.resetModules();
  }
  return found;
}

const database = await useDatabase();

/** PostgreSQL's `Describe` (manual, 54.2.3), which `pg` sends only together with the statement's execution. */
function describe(client: pg.Client, { text }: Query) {
  return new Promise<{ parameters: number[]; columns: pg.FieldDef[] }>((resolve, reject) => {
    let parameters: number[] = [];
    let columns: pg.FieldDef[] = [];
    const submit = (connection: pg.Connection) => {
      connection.once('parameterDescription', (message: { dataTypeIDs: number[] }) => {
        parameters = message.dataTypeIDs;
      });
      connection.parse({ name: '', text, types: [] }, true);
      connection.describe({ type: 'S', name: '' }, true);
      connection.sync();
    };
    client.query({
      submit,
      handleRowDescription: ({ fields }: { fields: pg.FieldDef[] }) => {
        columns = fields;
      },
      handleError: reject,
      handleReadyForQuery: () => resolve({ parameters, columns }),
    });
  });
}

const TYPES = `select oid::int, oid::regtype::text as name from pg_type`;

it('every statement fits the schema, with the recorded parameters and columns', async () => {
  const found = await findStatements();
  const lines = await withClient(database.url, async (client) => {
    const { rows } = await client.query<{ oid: number; name: string }>(TYPES);
    const types = new Map(rows.map(({ oid, name }) => [oid, name]));
    const described: string[] = [];
    for (const [name, query] of [...found].toSorted()) {
      const { parameters, columns } = await describe(client, query);
      const takes = parameters.map((oid) => types.get(oid)).join(', ');
      const gives = columns.map((column) => `${column.name} ${types.get(column.dataTypeID)}`).join(', ');
      described.push(`-- ${name}(${takes}) → ${gives || 'nothing'}\n${query.text.trim()};\n`);
    }
    return described;
  });
  await expect(lines.join('\n')).toMatchFileSnapshot('statements.sql');
});
