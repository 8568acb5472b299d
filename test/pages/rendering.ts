import fastify from 'fastify';
import type { Branding } from '../../src/http/pages/look.ts';
import type { Page } from '../../src/http/pages/pages.ts';
import { addViews, dataFor, pageText } from '../../src/http/pages/views.ts';
import type { Language } from '../../src/languages/languages.ts';

// Pages without a server around them.

const app = fastify();
await addViews(app);

/** A page rendered whole. */
export const renderPage = (page: Page, language: Language, branding: Branding, wayBack: string) =>
  app.view(`@${page.name}`, dataFor(page, language, branding, wayBack));

/** A page as it is sent, from the pieces of `branding` if they are there. */
export const renderShared = async (page: Page, language: Language, branding: Branding, wayBack: string) =>
  pageText(app, page, language, branding, wayBack);
