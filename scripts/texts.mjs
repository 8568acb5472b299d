import { readFileSync, writeFileSync } from 'node:fs';
import { argv } from 'node:process';
import { parse } from '@messageformat/parser';

// node scripts/texts.mjs: writes en.d.ts beside each en.json, the types of the English texts and of their values. A text or a value
// that English does not have fails to compile, and so does a value that is missing.

/** Of the pages and of the demo. */
export const FOLDERS = ['views/texts', 'demo/texts'];

const urlOf = (file) => new URL(`../${file}`, import.meta.url);

const HEAD = `// Written from en.json by \`node scripts/texts.mjs\`.

/** What makes a text of its values. */
type With<Names extends string, Numbers extends string = never> = (
  values: { readonly [Name in Names]: string } & { readonly [Name in Numbers]: number },
) => string;

export interface Sentences {
`;

export function typesOfTexts(folder) {
  const texts = JSON.parse(readFileSync(urlOf(`${folder}/en.json`), 'utf8'));
  for (const choice of ['currency', 'inSentence']) delete texts[choice];
  return `${HEAD}${linesOf(texts, '  ').join('\n')}\n}\n`;
}

function linesOf(group, indent) {
  const entries = Object.entries(group).filter(([name]) => !name.startsWith('@'));
  return entries.flatMap(([name, one]) => {
    const key = `${indent}readonly ${/^\w+$/.test(name) ? name : `'${name}'`}`;
    if (typeof one === 'string') return inLine(`${key}: ${typeOf(one)};`, indent);
    return [`${key}: {`, ...linesOf(one, `${indent}  `), `${indent}};`];
  });
}

const LINE = 110;

/** As the formatter would write it. */
function inLine(line, indent) {
  const [, start, names] = /^(.*With<)(.*)>;$/.exec(line) ?? [];
  return line.length <= LINE || !names ? [line] : [start, `${indent}  ${names}`, `${indent}>;`];
}

function typeOf(message) {
  const values = valuesOf(parse(message));
  const union = (isNumber) => [...values].filter(([, is]) => is === isNumber).map(([name]) => `'${name}'`);
  const [names, numbers] = [union(false).join(' | '), union(true).join(' | ')];
  if (numbers !== '') return `With<${names || 'never'}, ${numbers}>`;
  return names === '' ? 'string' : `With<${names}>`;
}

/** By name: whether a value is a number. */
function valuesOf(tokens) {
  const found = tokens.filter(({ arg }) => arg !== undefined);
  return new Map(
    found.flatMap(({ arg, type, key, cases = [] }) => [
      ...cases.flatMap((one) => [...valuesOf(one.tokens)]),
      [arg, type === 'plural' || key === 'number'],
    ]),
  );
}

if (argv[1] === import.meta.filename)
  for (const folder of FOLDERS) writeFileSync(urlOf(`${folder}/en.d.ts`), typesOfTexts(folder));
