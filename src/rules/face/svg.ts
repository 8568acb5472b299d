import { FileError } from '../common/operatorFile.ts';
import type { ImageSize } from './png.ts';

// Only operators give logos. Pages draw one in an <img>, and its address has the CSP `sandbox`: an SVG runs nothing and loads
// nothing in either. So its elements are not judged.

const SVG = 'http://www.w3.org/2000/svg';
/** The attributes of the first element, behind a declaration and comments. */
const ROOT = /^(?:\s|<\?[^>]*>|<!--(?:(?!-->).)*-->)*<svg(\s[^>]*)>/s;

/** The size of an SVG. @param body of bounded length @throws {FileError} */
export function svgSize(body: Buffer): ImageSize {
  const text = body.toString();
  // An entity of few bytes can stand for millions of elements.
  if (/<!(?:DOCTYPE|ENTITY)/i.test(text))
    throw new FileError(['has a document type (<!DOCTYPE>): take that line out']);
  const [, root] = ROOT.exec(text) ?? [];
  if (root === undefined || !Buffer.from(text).equals(body))
    throw new FileError(['is neither a PNG nor an SVG in UTF-8']);
  const attribute = (name: string) =>
    new RegExp(`\\s${name}\\s*=\\s*["']([^"']*)`).exec(root)?.[1]?.trim() ?? '';
  if (attribute('xmlns') !== SVG) throw new FileError([`needs xmlns="${SVG}" in its <svg>`]);
  return sizeOf(attribute);
}

/** The page's layout size: `width` and `height` if both are plain numbers, otherwise `viewBox`. */
function sizeOf(attribute: (name: string) => string): ImageSize {
  const lengthOf = (text: string) => Number(text.replace(/px$/, ''));
  const [width = 0, height = 0] = [attribute('width'), attribute('height')].map(lengthOf);
  const [, , boxWidth = 0, boxHeight = 0, ...more] = attribute('viewBox')
    .split(/[\s,]+/)
    .map(lengthOf);
  if (!isSide(boxWidth) || !isSide(boxHeight) || more.length > 0)
    throw new FileError(['needs a viewBox such as "0 0 32 32"']);
  return isSide(width) && isSide(height) ? { width, height } : { width: boxWidth, height: boxHeight };
}

const isSide = (length: number) => length > 0 && length <= 100_000;
