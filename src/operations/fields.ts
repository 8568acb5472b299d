import { z } from 'zod';

// Fields of several operations. A title stands for the value in the command's help.

export const text = (title: string) => z.string().meta({ title });
export const ID = text('id');
export const LOGIN = text('login');
export const LOGIN_OR_ID = LOGIN.describe('login or user_id');
export const FLAG = z.boolean();
export const OPTIONAL_FLAG = FLAG.default(false);
export const STATUS = z.enum(['active', 'blocked']);

export function intUpTo(most: number, title: string) {
  const error = `Not a number from 1 to ${most}.`;
  return z.int(error).min(1, error).max(most, error).meta({ title });
}

/** The place of a row in a list by time: its microseconds since 1970, and what distinguishes it within them. */
export const cursorField = (form: RegExp) =>
  text('cursor').regex(form, 'Not a cursor.').exactOptional().describe('list only entries after this cursor');

export const LIMIT = intUpTo(1_000, 'number').exactOptional().describe('number of entries, up to 1000');

export const NOTHING_TO_CHANGE = 'nothing to change: pass at least one of {fields}';

export const LIST_FIELDS = {
  after: text('entry').exactOptional().describe('list only entries after this id, login or name'),
  name: text('text').exactOptional().describe('list only entries with this text in the name'),
  status: STATUS.exactOptional().meta({
    title: 'status',
    description: 'list only active or blocked ones',
  }),
  limit: LIMIT,
};

/** A day, or a time with a zone. JavaScript would guess the meaning of other forms. */
const TIME = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })], {
    error: 'Must be a day, or a time with a time zone, such as 2026-11-20 or 2026-11-20T09:30:00Z.',
  })
  .transform((text) => new Date(text))
  .exactOptional();

export const timeThat = (description: string) => TIME.meta({ title: 'time', description });
