import { describe, expect, it } from 'vitest';
import { batchStatement, statement } from '../../src/store/database/statement.ts';

describe('a statement with named parameters', () => {
  it('ignores casts and operators as parameters', () => {
    const text = `select '{1}'::int[] <@array[1], '{}'::jsonb @> '{}', @ -5, 'a@b'`;
    expect(statement('operators', text)()).toEqual({ name: 'operators', text, values: [] });
  });

  it('sends null, but fails without a value', () => {
    const one = statement<{ a?: number | null }>('one', 'select @a');
    expect(one({ a: null }).values).toEqual([null]);
    expect(() => one({})).toThrow('the statement one lacks a value for a');
  });
});

it('a batch statement with an unknown column fails at load', () => {
  const load = () => batchStatement<number>('ids', 'select @other from @input(id int)', { id: (id) => id });
  expect(load).toThrow('the statement ids has no column other');
});

it('a batch statement fails when a request lacks a value', () => {
  const find = batchStatement<{ userId?: number }>('find', 'table @input(user_id int)');
  expect(() => find([{ userId: 1 }, {}])).toThrow('the statement find lacks a value for userId');
});
