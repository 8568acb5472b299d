import type { Page } from '../../src/http/pages/pages.ts';
import { pageHeaders, renderPage } from '../../src/http/pages/views.ts';
import { LANGUAGES, type Language } from '../../src/languages/languages.ts';
import { BUILT_IN_LOOK, LOOKS } from './looks.ts';
import { pageSamplesIn } from './samples.ts';

/** A page in one of its states, as a reader of one language sees it under one brand. */
export interface State {
  readonly name: string;
  readonly language: Language;
  readonly brand: string;
  readonly page: Page;
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

export function statesOf(language: Language, brand: string): State[] {
  const branding = LOOKS[brand] ?? BUILT_IN_LOOK;
  return Object.entries(pageSamplesIn(language)).map(([name, page]) => ({
    name,
    language,
    brand,
    page,
    html: renderPage(page, language, branding, WAY_BACK),
    headers: pageHeaders(page, language, branding),
  }));
}

/** Of the form for another language, as on the account page. */
const WAY_BACK = 'L2FjY291bnQ';

/** Every sample under the built-in brand in each language, and one of each page under the other brands. */
export const ALL_STATES: readonly State[] = LANGUAGES.flatMap((language) => [
  ...statesOf(language, 'built-in'),
  ...Object.keys(LOOKS)
    .filter((brand) => brand !== 'built-in')
    .flatMap((brand) => statesOf(language, brand).filter(isFirstOfItsPage)),
]);

function isFirstOfItsPage({ page: { name } }: State, at: number, states: readonly State[]): boolean {
  return states.findIndex(({ page }) => page.name === name) === at;
}

/** For example `consent, long (ru, built-in)`. */
export function titleOf({ name, language, brand }: State): string {
  return `${name} (${language}, ${brand})`;
}

/** Whether no state before it has the same page with other words: those are named `error: …`. */
export function isDistinct(state: State): boolean {
  const shape = state.name.replace(/:.*/, '');
  const alike = ALL_STATES.find(
    ({ name, language, brand }) =>
      name.replace(/:.*/, '') === shape && language === state.language && brand === state.brand,
  );
  return alike === state;
}
