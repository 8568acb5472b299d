import { readOffer } from '../config/config.ts';
import { stripLanguageMarks } from '../languages/foreign.ts';
import { TEXTS } from '../languages/languages.ts';
import { describeLimit, describeRights } from '../languages/rights.ts';
import type { Ceiling } from '../rules/common/money.ts';
import { NO_TARGET_NAMES } from '../rules/face/directory.ts';
import { parseScope } from '../rules/scope/scope.ts';
import type { Database } from '../store/database/database.ts';
import { findSettings } from '../store/schema/settings.ts';
import type { Shell } from './shell.ts';

/** @returns rewrites a thing: scope and ceiling in the words of the pages, without unset fields */
export async function inWordsOf({ streams }: Shell, db: Database) {
  const { currency, catalogue } = readOffer(streams.env, await findSettings(db));
  const texts = TEXTS.en;
  const locale = {
    directory: NO_TARGET_NAMES,
    language: { tag: 'en', texts, defaultTag: 'en' },
    texts,
    catalogue,
  };
  const rightsIn = (scope: string) =>
    describeRights(parseScope(scope, currency), locale).map(({ before, target, after, limit, quotes }) => {
      const named = target === null ? '' : `${quotes.open}${target.join(' ')}${quotes.close}`;
      return stripLanguageMarks(
        `${before}${named}${after}${limit === null ? '' : `: ${TEXTS.en.formats.inSentence(limit)}`}`,
      );
    });
  return (thing: object): object => {
    const set = Object.entries(thing).filter(([, value]) => value !== null && value !== false);
    const fields = set.map(([name, value]) => {
      if (name === 'scope') return ['rights', rightsIn(value)];
      if (name === 'most') return [name, describeLimit({ ...(value as Ceiling), currency }, texts)];
      return [name, value];
    });
    return Object.fromEntries(fields);
  };
}
