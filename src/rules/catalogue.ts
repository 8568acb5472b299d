import { z } from 'zod';
import { RIGHT_NAMES, type RightName } from './scope.ts';
import { isVisible } from './text.ts';

/**
 * The rights that this service offers, each with the sentence that users read after "Demo Shop will be able to".
 * `{target}` stands for the shop or account that the right names.
 */
export type Catalogue = Readonly<Partial<Record<RightName, string>>>;

/** All rights of this API family. An operator's file (`CATALOGUE`) replaces it, and may offer fewer. */
export const BUILT_IN_CATALOGUE: Catalogue = {
  'account-info': 'See your account number, balance and status',
  'operation-history': 'See the list of your operations',
  'operation-details': 'See the details of an operation',
  'incoming-transfers': 'Accept and reject transfers sent to you',
  'payment.to-pattern': 'Pay the shop {target}',
  'payment.to-account': 'Transfer money to {target}',
  'payment-shop': 'Pay any shop',
  'payment-p2p': 'Transfer money to anyone',
  'money-source': 'Take the money from {target}',
};

/** The rights whose sentence needs its target: without it users would allow a payment and not see who gets it. */
const NAMES_A_TARGET = Object.entries(BUILT_IN_CATALOGUE)
  .filter(([, sentence]) => sentence.includes('{target}'))
  .map(([name]) => name);

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
