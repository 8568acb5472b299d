import { type Catalogue, parseCatalogue } from '../../src/languages/catalogue.ts';
import { find } from '../docs/checkout.ts';

/** The files with custom rights in docs/integrate/scopes.md, behind one with built-in rights: a bank's and a shop's. */
export const [, BANK_FILE = '', SHOP_FILE = ''] = find('docs/integrate/scopes.md', /^```json\n(.*?)^```$/gms);
export const [BANK, SHOP] = [BANK_FILE, SHOP_FILE].map(parseCatalogue) as [Catalogue, Catalogue];
