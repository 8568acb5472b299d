import type { RightName } from './scope.ts';

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
