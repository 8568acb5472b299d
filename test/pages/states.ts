import { BUILT_IN_TAGS } from '../../src/languages/languages.ts';
import { PSEUDO_TAGS, type Tag } from '../support/languages.ts';
import { BUILT_IN_LOOK, LOOKS, MULTILINGUAL_LOOK } from './looks.ts';
import { headersOf, type Page, renderPage } from './rendering.ts';
import { pageSamplesIn } from './samples.ts';

/** A page in one of its states, as a reader of one language sees it under one brand. */
export interface State {
  readonly name: string;
  readonly language: Tag;
  readonly brand: string;
  readonly page: Page;
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

const MULTILINGUAL = 'with a menu of languages';

/** Of the form for another language, as on the account page. */
export const WAY_BACK = 'L2FjY291bnQ';

export function statesOf(language: Tag, brand: string): Promise<State[]> {
  const branding = brand === MULTILINGUAL ? MULTILINGUAL_LOOK : (LOOKS[brand] ?? BUILT_IN_LOOK);
  const states = Object.entries(pageSamplesIn(language)).map(async ([name, page]) => ({
    name,
    language,
    brand,
    page,
    html: await renderPage(page, language, branding, WAY_BACK),
    headers: headersOf(page, language, branding),
  }));
  return Promise.all(states);
}

/** Every sample under the built-in brand in each language, and one of each page under the other brands. */
export const ALL_STATES: readonly State[] = (await Promise.all(BUILT_IN_TAGS.map(statesIn))).flat();

/** The same in the languages of an operator, with a menu of all. */
export const PSEUDO_STATES: readonly State[] = (
  await Promise.all(PSEUDO_TAGS.map((language) => statesOf(language, MULTILINGUAL)))
).flat();

async function statesIn(language: Tag): Promise<State[]> {
  const others = Object.keys(LOOKS).filter((brand) => brand !== 'built-in');
  const states = await Promise.all(others.map((brand) => statesOf(language, brand)));
  const firsts = states.flatMap((ofBrand) => ofBrand.filter(isFirstOfItsPage));
  return [...(await statesOf(language, 'built-in')), ...firsts];
}

function isFirstOfItsPage({ page: { name } }: State, at: number, states: readonly State[]): boolean {
  return states.findIndex(({ page }) => page.name === name) === at;
}

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
