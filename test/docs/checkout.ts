import { fileURLToPath } from 'node:url';
import { openCheckout } from '../../scripts/lint/checkout.mjs';

// The files of the checkout that are kept.

export const root = new URL('../../', import.meta.url);
const checkout = openCheckout(fileURLToPath(root));
export const { files, book, read } = checkout;

export const find = (file: string, pattern: RegExp): string[] =>
  checkout.find(file, pattern).map(({ text }) => text);
