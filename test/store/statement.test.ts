import { describe, expect, it } from 'vitest';
import { batchStatement, statement } from '../../src/store/database/statement.ts';

describe('a statement with named parameters', () => {
  it('is numbered once, in the order of first appearance, however often a parameter is named', () => {
    const both = statement<{ first: number; second: number }>('both', 'select @second, @first, @second');
    expect(both({ first: 1, second: 2 })).toEqual({
      name: 'both',
      text: 'select $1, $2, $1',
      values: [2, 1],
    });
  });

  it('takes no cast and no operator for a parameter', () => {
    const text = `select '{1}'::int[] <@array[1], '{}'::jsonb @> '{}', @ -5, 'a@b'`;
    expect(statement('operators', text)()).toEqual({ name: 'operators', text, values: [] });
  });

  it('has its deadline last, which is filled in when it is run', () => {
    const late = statement<{ a: number; b: number }>('late', 'select @a, @deadline, @b');
    expect(late({ a: 1, b: 2 })).toMatchObject({ text: 'select $1, $3, $2', values: [1, 2] });
  });

  it('sends null, but fails without a value', () => {
    const one = statement<{ a?: number | null }>('one', 'select @a');
    expect(one({ a: null }).values).toEqual([null]);
    expect(() => one({})).toThrow('the statement one was given no a');
  });

  it('sends only what its text names', () => {
    const { values } = statement<{ a: number; b: number }>('some', 'select @b')({ a: 1, b: 2 });
    expect(values).toEqual([2]);
  });
});

it('a statement over a batch fails to load when it names a column that it does not have', () => {
  const load = () => batchStatement<number>('ids', { id: ['int', (id) => id] }, () => 'select @other');
  expect(load).toThrow('the statement ids has no column other');
});

it('a statement over a batch has its requests as a table, and each column as an array', () => {
  const find = batchStatement<{ userId: number | null; name: string }>(
    'find',
    { user_id: 'int', name: ['text', ({ name }) => name.toUpperCase()] },
    (input) => `select input.n from ${input} where input.user_id = any (@user_id::int[])`,
  );
  const requests = [
    { userId: 1, name: 'a' },
    { userId: null, name: 'b' },
  ];
  expect(find(requests)).toEqual({
    name: 'find',
    text:
      'select input.n from unnest($1::int[], $2::text[]) with ordinality as input (user_id, name, n)' +
      ' where input.user_id = any ($1::int[])',
    values: [
      [1, null],
      ['A', 'B'],
    ],
    size: 2,
  });
});

it('a statement over a batch fails when a request lacks a value', () => {
  const find = batchStatement<{ userId?: number }>('find', { user_id: 'int' }, (input) => `table ${input}`);
  expect(() => find([{ userId: 1 }, {}])).toThrow('the statement find was given no userId');
});
