import { describe, expect, it } from 'vitest';
import { batchStatement, statement } from '../../src/store/database/statement.ts';

describe('a statement with named parameters', () => {
  it('takes no cast and no operator for a parameter', () => {
    const text = `select '{1}'::int[] <@array[1], '{}'::jsonb @> '{}', @ -5, 'a@b'`;
    expect(statement('operators', text)()).toEqual({ name: 'operators', text, values: [] });
  });

  it('sends null, but fails without a value', () => {
    const one = statement<{ a?: number | null }>('one', 'select @a');
    expect(one({ a: null }).values).toEqual([null]);
    expect(() => one({})).toThrow('the statement one was given no a');
  });
});

it('a statement over a batch fails to load when it names a column that it does not have', () => {
  const load = () => batchStatement<number>('ids', { id: ['int', (id) => id] }, () => 'select @other');
  expect(load).toThrow('the statement ids has no column other');
});

it('a statement over a batch fails when a request lacks a value', () => {
  const find = batchStatement<{ userId?: number }>('find', { user_id: 'int' }, (input) => `table ${input}`);
  expect(() => find([{ userId: 1 }, {}])).toThrow('the statement find was given no userId');
});
