import { describe, expect, it } from 'vitest';
import { batchStatement, statement } from '../../src/store/statement.ts';

describe('a statement with named parameters', () => {
  it('is numbered once, whatever the order and however often its parameters are named', () => {
    const both = statement('both', ['first', 'second'], 'select @second, @first, @second');
    expect(both({ second: 2, first: 1 })).toEqual({
      name: 'both',
      text: 'select $2, $1, $2',
      values: [1, 2],
    });
  });

  it('takes no cast and no operator for a parameter', () => {
    const text = `select '{1}'::int[] <@array[1], '{}'::jsonb @> '{}', @ -5, 'a@b'`;
    expect(statement('operators', [], text)({}).text).toBe(text);
  });

  it('has its deadline last, which is filled in when it is run', () => {
    const late = statement('late', ['a'], 'select @deadline, @a');
    expect(late({ a: 1 })).toMatchObject({ text: 'select $2, $1', values: [1] });
  });

  it('fails to load when it names a parameter that is not declared, or leaves one out', () => {
    expect(() => statement('one', ['a'], 'select @a, @b')).toThrow('the statement one has no parameter b');
    expect(() => statement('two', ['a', 'b'], 'select @a')).toThrow('the statement two does not use b');
  });
});

it('a statement over a batch has its requests as a table, and each column as an array', () => {
  const find = batchStatement<{ id: number; name: string }>(
    'find',
    { id: ['int', ({ id }) => id], name: ['text', ({ name }) => name.toUpperCase()] },
    (input) => `select input.n from ${input} where input.id = any (@id::int[])`,
  );
  const requests = [
    { id: 1, name: 'a' },
    { id: 2, name: 'b' },
  ];
  expect(find(requests)).toEqual({
    name: 'find',
    text:
      'select input.n from unnest($1::int[], $2::text[]) with ordinality as input (id, name, n)' +
      ' where input.id = any ($1::int[])',
    values: [
      [1, 2],
      ['A', 'B'],
    ],
    size: 2,
  });
});
