import { type SaxesAttributeNS, SaxesParser, type SaxesTagNS } from 'saxes';
import { FileError } from './operatorFile.ts';
import type { ImageSize } from './png.ts';

// An SVG is a program as much as a picture. What is not on these lists is refused, never cut out, so that what was looked at
// is what is served. There is no way to name anything outside of the file, to act, to move, or to draw one thing many times.

const SVG = 'http://www.w3.org/2000/svg';

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

const ELEMENTS = words(`
  svg g defs title desc style path rect circle ellipse line polyline polygon text tspan
  linearGradient radialGradient stop clipPath`);

/** Where text belongs; elsewhere there is only white space. */
const TEXT_ELEMENTS = words('title desc style text tspan');

const ATTRIBUTES = words(`
  id class style lang xml:lang xml:space version baseProfile viewBox preserveAspectRatio enable-background
  role focusable aria-label aria-hidden aria-labelledby data-name href xlink:href
  width height x y d points cx cy r rx ry x1 y1 x2 y2 dx dy fx fy fr rotate pathLength transform textLength lengthAdjust
  offset gradientTransform gradientUnits spreadMethod clipPathUnits
  fill fill-opacity fill-rule stroke stroke-width stroke-linecap stroke-linejoin stroke-miterlimit stroke-dasharray
  stroke-dashoffset stroke-opacity opacity color display visibility overflow clip-path clip-rule
  stop-color stop-opacity paint-order vector-effect isolation mix-blend-mode shape-rendering text-rendering
  color-interpolation font-family font-size font-style font-weight font-stretch font-variant text-anchor
  dominant-baseline alignment-baseline baseline-shift letter-spacing word-spacing text-decoration writing-mode`);

const FUNCTIONS = words(
  'rgb rgba hsl hsla matrix translate translatex translatey scale rotate skewx skewy media and or not',
);

/** Dashes as fine as dust, and blurred shadows by the hundred: CSS that draws long in few bytes. */
const SLOW_CSS = /(?:text|box)-shadow|box-reflect|stroke-dasharray(?!\s*:\s*none\b)/i;

/** Rules for elements, classes and ids, and few of them: a browser tries others on one element after another. */
const RULE = String.raw`\s*[.#]?[\w-]+(?:\s*,\s*[.#]?[\w-]+)*\s*\{[^{}]*\}`;
const STYLE = new RegExp(String.raw`^(?=[^]{0,4096}$)(?:${RULE}|\s*@media[^{};]*\{(?:${RULE})*\s*\})*\s*$`);
const MAX_ELEMENTS = 1000;
const MAX_DEPTH = 32;
/** Each letter may have a place and a turn of its own, which a browser draws one by one. */
const MAX_LETTERS = 500;

/**
 * The size of an SVG that has nothing but shapes, text and colours.
 *
 * @param body of bounded length
 * @throws {FileError} naming the first thing that is not allowed
 */
export function svgSize(body: Buffer): ImageSize {
  const text = body.toString();
  if (!Buffer.from(text).equals(body)) refuse('is neither a PNG nor an SVG in UTF-8');
  const open: SaxesTagNS[] = [];
  const before: SaxesTagNS[] = [];
  const parser = new SaxesParser({ xmlns: true, position: false });
  // Comments and CDATA cut the text of an element into pieces, which a browser reads as one.
  let style = '';
  let letters = 0;
  const readText = (content: string) => {
    const element = open.at(-1)?.name ?? '';
    if (element === 'style') style += content;
    else if (/^t(ext|span)$/.test(element)) letters += content.length;
    else if (!TEXT_ELEMENTS.has(element) && content.trim() !== '') {
      refuse(`has text in <${element}>, where none belongs`);
    }
    if (letters > MAX_LETTERS) refuse(`has more than ${MAX_LETTERS} letters of text: make paths of it`);
  };
  parser.on('error', ({ message }) => refuse(`is no well-formed XML: ${message}`));
  parser.on('xmldecl', ({ encoding = 'utf-8' }) => {
    if (encoding.toLowerCase() !== 'utf-8') refuse('is not in UTF-8');
  });
  parser.on('doctype', () => refuse('has a document type (<!DOCTYPE>): take that line out'));
  parser.on('processinginstruction', ({ target }) => refuse(`has an instruction <?${target}?>`));
  parser.on('text', readText);
  parser.on('cdata', readText);
  parser.on('opentag', (tag) => {
    checkElement(tag, open, before);
    before.push(tag);
    open.push(tag);
  });
  parser.on('closetag', () => {
    if (open.pop()?.name !== 'style') return;
    checkCss(style, '<style>'); // all of them so far
    if (!STYLE.test(style))
      refuse('has more in <style> than 4096 characters of rules such as ".a {fill: red}"');
  });
  parser.write(text).close();
  return sizeOf(before[0]);
}

function refuse(problem: string): never {
  throw new FileError([problem]);
}

/** @param open the elements around it @param before all that began before it */
function checkElement(tag: SaxesTagNS, open: readonly SaxesTagNS[], before: readonly SaxesTagNS[]): void {
  const { name, uri } = tag;
  const parent = open.at(-1);
  if (open.length === 0 ? name !== 'svg' : name === 'svg')
    refuse('must have one <svg>, around everything else');
  if (parent?.name === 'style') refuse(`has <${name}> in <style>`);
  if (uri !== SVG) refuse(`has <${name}>, which is not in the namespace ${SVG}`);
  if (!ELEMENTS.has(name))
    refuse(`has <${name}>, which a logo must not have: save it as plain SVG, without effects`);
  if (open.length > MAX_DEPTH) refuse(`is nested deeper than ${MAX_DEPTH} elements`);
  if (before.length === MAX_ELEMENTS) refuse(`has more than ${MAX_ELEMENTS} elements: join its paths`);
  // Drawing programs cut to the edge of the page so. More, used often, would be drawn as often.
  if (parent?.name === 'clipPath' && (parent !== before.at(-1) || !/^(rect|circle|ellipse)$/.test(name)))
    refuse('clips with more than one <rect>, <circle> or <ellipse>: cut the paths themselves');
  for (const attribute of Object.values(tag.attributes)) checkAttribute(name, attribute);
}

function checkAttribute(element: string, { name, prefix, value }: SaxesAttributeNS): void {
  if (prefix === 'xmlns' || /^(?:xmlns|aria-label|data-name)$/.test(name)) return; // no CSS
  const place = `the attribute ${name} of <${element}>`;
  if (!ATTRIBUTES.has(name)) refuse(`has ${place}, which a logo must not have: save it as plain SVG`);
  if (name === 'href' || name === 'xlink:href') {
    if (!/^#[\w.-]+$/.test(value)) refuse(`has ${place}, which leads out of the file`);
    if (!element.endsWith('Gradient')) refuse(`has ${place}: only gradients may refer to each other`);
    return;
  }
  if (name === 'clip-path' && element !== 'g') refuse(`has ${place}: only a group <g> may be clipped`);
  // Each may point to a part of the same file.
  const attributeCss = `${name}:${value.replaceAll(/url\((["']?)#[\w.-]+\1\)/g, '')}`;
  checkCss(name === 'style' ? value : attributeCss, place);
}

/** Presentation attributes are CSS, too: what could load or move something is a function, an at-rule, or hidden by an escape. */
function checkCss(css: string, place: string): void {
  const rule = /@(?!media\b)[\w-]*/i.exec(css)?.[0];
  if (rule !== undefined) refuse(`has ${rule} in ${place}, which may only be @media`);
  if (css.includes('\\')) refuse(`has a backslash in ${place}`);
  const slow = SLOW_CSS.exec(css)?.[0];
  if (slow !== undefined) refuse(`has ${slow} in ${place}, which takes long to draw: make paths of it`);
  // It begins where a name does, so that a long text is read once.
  for (const [, called = ''] of css.matchAll(/(?<![^\s(){}:;,/])([^\s(){}:;,/]+)\(/g)) {
    if (!FUNCTIONS.has(called.toLowerCase()))
      refuse(`has ${called}() in ${place}, which a logo must not have`);
  }
}

/** As a page lays it out: by `width` and `height` where both are plain numbers, otherwise by `viewBox`. */
function sizeOf(root: SaxesTagNS | undefined): ImageSize {
  const attribute = (name: string) => root?.attributes[name]?.value.trim() ?? '';
  const box = attribute('viewBox').split(/[\s,]+/);
  const [, , boxWidth = 0, boxHeight = 0] = box.map(Number);
  if (box.length !== 4 || !isSide(boxWidth) || !isSide(boxHeight))
    refuse('needs a viewBox such as "0 0 32 32"');
  const [width = 0, height = 0] = ['width', 'height'].map((name) =>
    Number(attribute(name).replace(/px$/, '')),
  );
  return isSide(width) && isSide(height) ? { width, height } : { width: boxWidth, height: boxHeight };
}

function isSide(length: number): boolean {
  return length > 0 && length <= 100_000;
}
