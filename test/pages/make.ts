import { fileURLToPath } from 'node:url';
import { it } from 'vitest';
import { writeGallery } from './gallery.ts';
import { takePictures } from './pictures.ts';
import { openSite } from './site.ts';

// `npm run pages`. Node 20 runs no TypeScript by itself, and vitest is there.

const ROOT = new URL('../../', import.meta.url);

it('renders the gallery: pages/index.html', () => {
  writeGallery(fileURLToPath(new URL('pages', ROOT)));
});

it('renders the pictures: docs/pages-*.png', { timeout: 60_000 }, async () => {
  const site = await openSite();
  try {
    await takePictures(site, fileURLToPath(new URL('docs', ROOT)));
  } finally {
    await site.close();
  }
});
