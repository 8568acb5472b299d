import { InvalidArgumentError } from 'commander';
import { z } from 'zod';

/** A day, or a time with a zone: of anything else JavaScript guesses what it means. */
const TIME = z.union([z.iso.date(), z.iso.datetime({ offset: true })]);

/** Reads the time of an option. @throws {InvalidArgumentError} */
export function readTime(text: string): Date {
  if (!TIME.safeParse(text).success) {
    throw new InvalidArgumentError(
      'Not a day or a time with a zone, such as 2026-11-20 or 2026-11-20T09:30:00Z.',
    );
  }
  return new Date(text);
}
