import { type SaxesAttributeNS, SaxesParser, type SaxesTagNS } from 'saxes';
import { FileError } from './operatorFile.ts';
import type { ImageSize } from './png.ts';

// An SVG is a program as much as a picture. What is not on these lists is refused, never cut out, so that what was looked at
// is what is served. There is no way to name anything outside of the file, to act, to move, or to draw one thing many times.

const SVG = 'http://www.w3.org/2000/svg';

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

const ELEMENTS = words(`
  svg g defs title desc style path rect circle ellipse line polyline polygon text tspan
  linearGradient radialGradient stop clipPath mask`);

/** Where text belongs; elsewhere there is only white space. */
const TEXT_ELEMENTS = words('title desc style text tspan');

const ATTRIBUTES = words(`
  id class style lang xml:lang xml:space version baseProfile viewBox preserveAspectRatio enable-background
  role focusable aria-label aria-hidden aria-labelledby data-name href xlink:href
  width height x y d points cx cy r rx ry x1 y1 x2 y2 dx dy fx fy fr rotate pathLength transform textLength lengthAdjust
  offset gradientTransform gradientUnits spreadMethod clipPathUnits maskUnits maskContentUnits
  fill fill-opacity fill-rule stroke stroke-width stroke-linecap stroke-linejoin stroke-miterlimit stroke-dasharray
  stroke-dashoffset stroke-opacity opacity color display visibility overflow clip-path clip-rule mask mask-type
  stop-color stop-opacity paint-order vector-effect isolation mix-blend-mode shape-rendering text-rendering
  color-interpolation font-family font-size font-style font-weight font-stretch font-variant text-anchor
  dominant-baseline alignment-baseline baseline-shift letter-spacing word-spacing text-decoration writing-mode`);

/** Their values are words for people, and no CSS. */
const FREE_TEXT = words('aria-label data-name');

/** The attributes that may point to a part of the same file, as `url(#id)`. */
const REFERRING = words('fill stroke clip-path mask');

/** A mask of a mask of a mask draws everything many times. */
const CLIPPING = words('clip-path mask');
const CLIPPERS = words('clipPath mask');

const FUNCTIONS = words(
  'rgb rgba hsl hsla matrix translate translatex translatey scale rotate skewx skewy media and or not',
);

const MAX_DEPTH = 32;

/**
 * The size of an SVG that has nothing but shapes, text and colours.
 *
 * @param body of bounded length
 * @throws {FileError} naming the first thing that is not allowed
 */
export function svgSize(body: Buffer): ImageSize {
  const text = decode(body);
  const open: SaxesTagNS[] = [];
  let root: SaxesTagNS | null = null;
  const parser = new SaxesParser({ xmlns: true, position: false });
  // Comments and CDATA cut the text of an element into pieces, which a browser reads as one.
  let style = '';
  const readText = (content: string) => {
    const element = open.at(-1)?.name ?? '';
    if (element === 'style') style += content;
    else if (!TEXT_ELEMENTS.has(element) && content.trim() !== '') {
      refuse(`has text in <${element}>, where none belongs`);
    }
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
    checkElement(tag, open);
    root ??= tag;
    open.push(tag);
  });
  parser.on('closetag', () => {
    if (open.pop()?.name === 'style') checkCss(style, '<style>');
    style = '';
  });
  parser.write(text).close();
  return sizeOf(root);
}

function refuse(problem: string): never {
  throw new FileError([problem]);
}

function decode(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return refuse('is neither a PNG nor an SVG in UTF-8');
  }
}

function checkElement(tag: SaxesTagNS, open: readonly SaxesTagNS[]): void {
  const { name, uri } = tag;
  if (open.length === 0 ? name !== 'svg' : name === 'svg')
    refuse('must have one <svg>, around everything else');
  if (open.at(-1)?.name === 'style') refuse(`has <${name}> in <style>`);
  if (uri !== SVG) refuse(`has <${name}>, which is not in the namespace ${SVG}`);
  if (!ELEMENTS.has(name))
    refuse(`has <${name}>, which a logo must not have: save it as plain SVG, without effects`);
  if (open.length > MAX_DEPTH) refuse(`is nested deeper than ${MAX_DEPTH} elements`);
  const isClipping = [...open, tag].some((ancestor) => CLIPPERS.has(ancestor.name));
  for (const attribute of Object.values(tag.attributes)) checkAttribute(name, attribute, isClipping);
}

function checkAttribute(
  element: string,
  { name, prefix, value }: SaxesAttributeNS,
  isClipping: boolean,
): void {
  if (prefix === 'xmlns' || name === 'xmlns' || FREE_TEXT.has(name)) return;
  const place = `the attribute ${name} of <${element}>`;
  if (!ATTRIBUTES.has(name)) refuse(`has ${place}, which a logo must not have: save it as plain SVG`);
  if (name === 'href' || name === 'xlink:href') {
    if (!/^#[\w.-]+$/.test(value)) refuse(`has ${place}, which leads out of the file`);
    if (!element.endsWith('Gradient')) refuse(`has ${place}: only gradients may refer to each other`);
    return;
  }
  if (isClipping && CLIPPING.has(name)) refuse(`has ${place} within another one`);
  checkCss(REFERRING.has(name) ? value.replaceAll(/url\((["']?)#[\w.-]+\1\)/g, '') : value, place);
}

/** Presentation attributes are CSS, too: what could load or move something is a function, an at-rule, or hidden by an escape. */
function checkCss(css: string, place: string): void {
  const rule = /@(?!media\b)[\w-]*/i.exec(css)?.[0];
  if (rule !== undefined) refuse(`has ${rule} in ${place}, which may only be @media`);
  if (css.includes('\\')) refuse(`has a backslash in ${place}`);
  for (const [, called = ''] of css.matchAll(/([^\s(){}:;,/]+)\(/g)) {
    if (!FUNCTIONS.has(called.toLowerCase()))
      refuse(`has ${called}() in ${place}, which a logo must not have`);
  }
}

/** As a page lays it out: by `width` and `height` where both are plain numbers, otherwise by `viewBox`. */
function sizeOf(root: SaxesTagNS | null): ImageSize {
  const attribute = (name: string) => root?.attributes[name]?.value ?? '';
  const box = attribute('viewBox')
    .trim()
    .split(/[\s,]+/)
    .map(Number);
  const [, , boxWidth = 0, boxHeight = 0] = box;
  if (box.length !== 4 || !isSide(boxWidth) || !isSide(boxHeight))
    refuse('needs a viewBox such as "0 0 32 32"');
  const [width, height] = [attribute('width'), attribute('height')].map((side) =>
    Number(side.replace(/px$/, '')),
  );
  return width && height && isSide(width) && isSide(height)
    ? { width, height }
    : { width: boxWidth, height: boxHeight };
}

function isSide(length: number): boolean {
  return length > 0 && length <= 100_000;
}
