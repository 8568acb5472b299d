import { z } from 'zod';
import type { Catalogue } from './catalogue.ts';
import { RIGHT_NAMES } from './scope.ts';
import { isVisible } from './text.ts';

const NAMES_A_TARGET: readonly string[] = ['payment.to-pattern', 'payment.to-account', 'money-source'];

/** A sentence without its target would have users allow a payment without seeing who gets it. */
const CATALOGUE = z
  .partialRecord(z.enum(RIGHT_NAMES), z.string().refine(isVisible, 'must say something'))
  .refine(
    (catalogue) =>
      Object.entries(catalogue).every(
        ([name, text]) => text.split('{target}').length === (NAMES_A_TARGET.includes(name) ? 2 : 1),
      ),
    `the sentences of ${NAMES_A_TARGET.join(', ')} need {target} once, the others must not have it`,
  );

/**
 * Parses an operator's catalogue: a JSON object from the name of a right to its sentence.
 *
 * @throws {Error} whose message says on one line what is wrong
 */
export function parseCatalogue(json: string): Catalogue {
  const result = CATALOGUE.safeParse(JSON.parse(json));
  if (result.success) return result.data;
  throw new Error(z.prettifyError(result.error).replaceAll('\n', ' '));
}
