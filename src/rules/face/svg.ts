import { SaxesParser, type SaxesTagNS } from 'saxes';
import { FileError } from '../common/operatorFile.ts';
import type { ImageSize } from './png.ts';

// A logo is drawn in an <img>, and its address has the CSP `sandbox`: an SVG runs nothing and loads nothing there. So this
// refuses only slow drawing; the worst accepted file must take less than a second.

const SVG = 'http://www.w3.org/2000/svg';
/** Elements that are drawn once. */
const ELEMENTS = new Set(
  `svg g defs title desc metadata style path rect circle ellipse line polyline polygon text tspan
   linearGradient radialGradient stop clipPath`.split(/\s+/),
);
const MAX_ELEMENTS = 1000;
const MAX_DEPTH = 32;
/** Each letter may have its own position and rotation. */
const MAX_LETTERS = 500;

/** Attributes with a text or a name, and those with a prefix such as `inkscape:`. All others may be CSS. */
const NO_CSS = /^(?:xmlns|id|class|aria-.*|data-.*|.+:.+)$/;
/** CSS that draws much in few bytes, matches many elements, or is hidden by an escape. */
const SLOW =
  /\\|@(?!media\b)[\w-]*|clip-path|mask|filter|(?:text|box)-shadow|box-reflect|stroke-dasharray(?!\s*:\s*none\b)/i;
/** Blurs, pictures and everything that loads are functions, too. */
const FUNCTIONS = /^(?:rgba?|hsla?|matrix|translate[xy]?|scale|rotate|skew[xy]|media|and|or|not)$/i;
/** Rules for elements, classes and ids, and few of them: a browser tests others on one element after another. */
const RULE = String.raw`\s*[.#]?[\w-]+(?:\s*,\s*[.#]?[\w-]+)*\s*\{[^{}]*\}`;
const STYLE = new RegExp(String.raw`^(?=[^]{0,4096}$)(?:${RULE}|\s*@media[^{};]*\{(?:${RULE})*\s*\})*\s*$`);

/** The size of an SVG. @param body of bounded length @throws {FileError} naming the first forbidden thing */
export function svgSize(body: Buffer): ImageSize {
  const text = body.toString();
  if (!Buffer.from(text).equals(body)) refuse('is neither a PNG nor an SVG in UTF-8');
  const open: SaxesTagNS[] = [];
  const before: SaxesTagNS[] = [];
  let [style, letters] = ['', 0];
  const readText = (content: string) => {
    const element = open.at(-1)?.name;
    if (element === 'style')
      style += content; // in pieces around comments, which a browser joins
    else if (element === 'text' || element === 'tspan') letters += content.length;
  };
  const parser = new SaxesParser({ xmlns: true, position: false });
  parser.on('error', ({ message }) => refuse(`is no well-formed XML: ${message}`));
  parser.on('doctype', () => refuse('has a document type (<!DOCTYPE>): take that line out'));
  parser.on('processinginstruction', ({ target }) => refuse(`has an instruction <?${target}?>`));
  parser.on('text', readText);
  parser.on('cdata', readText);
  parser.on('opentag', (tag) => {
    checkElement(tag, open, before);
    before.push(tag);
    open.push(tag);
  });
  parser.on('closetag', () => open.pop());
  parser.write(text).close();
  checkCss(style, '<style>');
  if (!STYLE.test(style))
    refuse('has more in <style> than 4096 characters of rules such as ".a {fill: red}"');
  if (letters > MAX_LETTERS) refuse(`has more than ${MAX_LETTERS} letters of text: make paths of it`);
  return sizeOf(before[0]);
}

function refuse(problem: string): never {
  throw new FileError([problem]);
}

/** @param open the surrounding elements @param before all elements that started earlier */
function checkElement(tag: SaxesTagNS, open: readonly SaxesTagNS[], before: readonly SaxesTagNS[]): void {
  const { name, uri } = tag;
  const parent = open.at(-1);
  if (parent === undefined && name !== 'svg') refuse('must be one <svg>');
  if (parent?.name === 'style') refuse(`has <${name}> in <style>`);
  if (!ELEMENTS.has(name) || uri !== SVG)
    refuse(
      `has <${name}>${uri === SVG ? '' : ` outside of ${SVG}`}, which a logo must not have: save it as plain SVG, without effects`,
    );
  if (open.length > MAX_DEPTH) refuse(`is nested deeper than ${MAX_DEPTH} elements`);
  if (before.length === MAX_ELEMENTS) refuse(`has more than ${MAX_ELEMENTS} elements: join its paths`);
  // Drawing programs clip to the page like this. Other clips, used often, would be drawn as often.
  if (parent?.name === 'clipPath' && (parent !== before.at(-1) || !/^(rect|circle|ellipse)$/.test(name)))
    refuse('clips with more than one <rect>, <circle> or <ellipse>: cut the paths themselves');
  checkAttributes(tag);
}

function checkAttributes({ name, attributes }: SaxesTagNS): void {
  for (const { name: attribute, value } of Object.values(attributes)) {
    if (NO_CSS.test(attribute)) continue;
    const property = attribute === 'style' || (attribute === 'clip-path' && name === 'g') ? '' : attribute;
    checkCss(`${property}:${value}`, `the attribute ${attribute} of <${name}>`);
  }
}

/** @param css a style sheet, declarations, or one property, since presentation attributes parse as such */
function checkCss(css: string, place: string): void {
  const read = css.replaceAll(/url\((["']?)#[\w.-]+\1\)/g, ''); // a part of the same file
  const slow = SLOW.exec(read)?.[0];
  if (slow !== undefined) refuse(`has ${slow} in ${place}, which a logo must not have: make paths of it`);
  // It starts where a name does, so that a long text is read once.
  for (const [, called = ''] of read.matchAll(/(?<![^\s(){}:;,/])([^\s(){}:;,/]+)\(/g))
    if (!FUNCTIONS.test(called)) refuse(`has ${called}() in ${place}, which a logo must not have`);
}

/** The page's layout size: `width` and `height` if both are plain numbers, otherwise `viewBox`. */
function sizeOf(root: SaxesTagNS | undefined): ImageSize {
  const attribute = (name: string) => root?.attributes[name]?.value.trim() ?? '';
  const lengthOf = (text: string) => Number(text.replace(/px$/, ''));
  const [width = 0, height = 0] = [attribute('width'), attribute('height')].map(lengthOf);
  const [, , boxWidth = 0, boxHeight = 0, ...more] = attribute('viewBox')
    .split(/[\s,]+/)
    .map(lengthOf);
  if (!isSide(boxWidth) || !isSide(boxHeight) || more.length > 0)
    refuse('needs a viewBox such as "0 0 32 32"');
  return isSide(width) && isSide(height) ? { width, height } : { width: boxWidth, height: boxHeight };
}

const isSide = (length: number) => length > 0 && length <= 100_000;
