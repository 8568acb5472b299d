import { readFileSync } from 'node:fs';
import { type Catalogue, parseCatalogue } from '../../src/languages/catalogue.ts';

const page = readFileSync(new URL('../../docs/integrate/scopes.md', import.meta.url), 'utf8');
const [, section = ''] = page.split('\n## Rights of your own\n');
const files = [...section.matchAll(/^```json\n(.*?)^```$/gms)].map(([, json = '']) => json);

/** The files in docs/integrate/scopes.md, as text: a bank's and a shop's. */
export const [BANK_FILE = '', SHOP_FILE = ''] = files;
export const [BANK, SHOP] = [BANK_FILE, SHOP_FILE].map(parseCatalogue) as [Catalogue, Catalogue];
