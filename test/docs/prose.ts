// Sentences of a Markdown document, as a reader counts them. Code blocks and comments are left out; a cell, a list item and a
// heading are texts of their own; `code` counts as one word.

const BLOCK = /\n\s*\n|^\s*(?:[-*]|\d+\.) (?=\S)|\|/m;

/** A sentence ends at a full stop, question or exclamation mark before a capital letter, a digit or code. */
const END = /(?<=[.!?])["”)]?\s+(?=["“(]?[\p{Lu}\d]|code\b)/u;

export function sentencesOf(markdown: string): string[] {
  const prose = markdown
    .replaceAll(/<!--[\s\S]*?-->/g, '')
    .replaceAll(/^( *)```[\s\S]*?^\1```$/gm, '\n\n')
    .replaceAll(/^#.*$/gm, '\n$&\n')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/`[^`]+`/g, 'code')
    .replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1')
    .replaceAll('**', '');
  return prose
    .split(BLOCK)
    .flatMap((block) => block.split(END))
    .map((sentence) => sentence.replaceAll(/\s+/g, ' ').trim())
    .filter((sentence) => /\p{L}/u.test(sentence));
}

export const countWords = (sentence: string) =>
  sentence.split(' ').filter((word) => /[\p{L}\d]/u.test(word)).length;

/** Names of people where a role is meant. */
export const PEOPLE = /\b(?:nobody|somebody|whoever|everybody|anybody|for who|who guesses)\b/gi;
