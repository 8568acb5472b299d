import { it } from 'vitest';
import { lookOf } from '../src/http/browser/look.ts';
import { renderPage } from '../src/http/browser/views.ts';
import { BUILT_IN_BRAND } from '../src/rules/brand.ts';
import { pageSamplesIn } from './http/pageSamples.ts';
import { launchChromium } from './support/chromium.ts';

it('shoots', async () => {
  const LOOK = lookOf({ brand: BUILT_IN_BRAND, baseUrl: 'https://pay.example' });
  const { NAMES = '', LANGS = 'en,ru', WIDTHS = '375', THEME = 'light' } = process.env;
  const b = await launchChromium();
  for (const name of NAMES.split(';'))
    for (const l of LANGS.split(','))
      for (const w of WIDTHS.split(',')) {
        const p = await (
          await b.newContext({ viewport: { width: +w, height: 800 }, colorScheme: THEME as 'light' })
        ).newPage();
        await p.setContent(
          renderPage(pageSamplesIn(l as 'en')[name]!, l as 'en', LOOK, { action: '/language', fields: {} }),
        );
        await p.screenshot({
          path: `/tmp/lead/shots/${name.replaceAll(/\W+/g, '-')}-${l}-${w}.png`,
          fullPage: true,
        });
      }
  await b.close();
}, 60_000);
