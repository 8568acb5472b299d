import { fileURLToPath } from 'node:url';
import { parseLogo, readBrand } from '../../src/config/operatorFiles.ts';
import { type Branding, brandingOf, FORM_SCRIPT } from '../../src/http/pages/look.ts';
import { BUILT_IN_LANGUAGES } from '../../src/languages/languages.ts';
import { type Brand, BUILT_IN_BRAND } from '../../src/rules/face/brand.ts';
import { contentTypeOf, type Logo } from '../../src/rules/face/logo.ts';
import { WITH_PSEUDO } from '../support/languages.ts';
import { png } from '../support/pictures.ts';
import { LOGOS_OF_SAMPLES } from './samples.ts';

// The brands of the samples, and their pictures.

export const BASE_URL = 'http://pay.example';

const wideLogo = parseLogo(png(360, 120));

export const FULL_BRAND = {
  name: { en: 'Northern Lights Savings & Payments Ltd', ru: 'Северное сияние: сбережения и платежи' },
  logo: { ...wideLogo, path: `/oauth/brand/logo-${wideLogo.file}` },
  accent: null,
  support: {
    url: 'https://help.northern-lights-savings-and-payments.example/contact',
    phone: '+7 (800) 555-01-00',
    email: 'people.who.answer.every.question@northern-lights-savings.example',
    password: 'https://northern-lights-savings-and-payments.example/forgotten',
  },
  legal: {
    en: 'Northern Lights Savings & Payments Ltd, 1 Harbour Street, Murmansk. Licence 0000 of the Central Bank of 1 April 2024, for payments and for keeping electronic money.',
    ru: 'ООО «Северное сияние: сбережения и платежи», Мурманск, Портовая улица, 1. Лицензия Банка России № 0000 от 1 апреля 2024 года на переводы и электронные деньги.',
  },
} satisfies Brand;

const BRANDS: Readonly<Record<string, Brand>> = {
  'built-in': BUILT_IN_BRAND,
  trial: readBrand(fileURLToPath(new URL('../../demo/wallet/brand.json', import.meta.url))),
  full: FULL_BRAND,
};

export const LOOKS: Readonly<Record<string, Branding>> = Object.fromEntries(
  Object.entries(BRANDS).map(([name, brand]) => [name, lookOf(brand)]),
);

export const BUILT_IN_LOOK = lookOf(BUILT_IN_BRAND);

/** With a menu of languages. */
export const MULTILINGUAL_LOOK = lookOf(BUILT_IN_BRAND, WITH_PSEUDO);

function lookOf(brand: Brand, languages = BUILT_IN_LANGUAGES()): Branding {
  return brandingOf({ brand, baseUrl: BASE_URL, provider: null, languages });
}

const assetAt = (path: string, contentType: string, body: Buffer) => [path, { contentType, body }] as const;
const pictureAt = (path: string, { file, body }: Logo) => assetAt(path, contentTypeOf(file), body);

export const ASSETS = new Map([
  ...Object.values(LOOKS).map(({ style: { path, body } }) => assetAt(path, 'text/css', body)),
  ...Object.values(BRANDS).flatMap(({ logo }) => (logo === null ? [] : [pictureAt(logo.path, logo)])),
  assetAt(FORM_SCRIPT.path, 'text/javascript', Buffer.from(FORM_SCRIPT.body)),
  ...Object.entries(LOGOS_OF_SAMPLES).map(([path, logo]) => pictureAt(path, logo)),
]);
