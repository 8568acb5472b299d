import { InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';

/** A day, or a time with a zone: of anything else JavaScript guesses what it means. */
const TIME = z.union([z.iso.date(), z.iso.datetime({ offset: true })]);

/** Reads the time of an option. @throws {InvalidArgumentError} */
export function readTime(text: string): Date {
  if (!TIME.safeParse(text).success) {
    throw new InvalidArgumentError('Not a day or a time with a zone: 2026-11-20, 2026-11-20T09:30:00Z.');
  }
  return new Date(text);
}

/** Makes the reader of a number from 1 to `most`. It throws {@link InvalidArgumentError}. */
export function readNumber(most: number): (text: string) => number {
  return (text) => {
    if (/^[1-9]\d{0,8}$/.test(text) && Number(text) <= most) return Number(text);
    throw new InvalidArgumentError(`Not a number from 1 to ${most}.`);
  };
}

export const LIMIT = new Option('--limit <number>', 'only so many, up to 1000').argParser(readNumber(1_000));
