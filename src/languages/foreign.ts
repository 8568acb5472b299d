import { randomUUID } from 'node:crypto';
import { directionOf } from './formats.ts';

// A page may have a text in another language than its own: one that a translation, or an operator's file, lacks. Screen readers
// and hyphenation need its `lang` (WCAG 2.2, 3.1.2), browsers its direction.

/** Random: no text contains it. */
const MARK = randomUUID();
const MARKED = new RegExp(`<title>[^<]*|<[^>]*>|${MARK}([\\w-]*);`, 'g');
const MARKS = new RegExp(`${MARK}[\\w-]*;`, 'g');

/** Marks a text of a page in another language. */
export function inLanguage(text: string, tag: string): string {
  return text === '' ? '' : `${MARK}${tag};${text}${MARK};`;
}

/** A text outside pages, where no language can be said. */
export function stripLanguageMarks(text: string): string {
  return text.replaceAll(MARKS, '');
}

/** Puts marked texts of a page into elements with their language; attributes and the title have only their text. */
export function markLanguages(html: string): string {
  if (!html.includes(MARK)) return html;
  return html.replaceAll(MARKED, (found, tag: string | undefined) => {
    if (tag === undefined) return stripLanguageMarks(found);
    return tag === '' ? '</span>' : `<span lang="${tag}" dir="${directionOf(tag)}">`;
  });
}
