import { FileError } from '../common/operatorFile.ts';
import type { ImageSize } from './png.ts';

// Only operators give logos. Pages draw one in an <img>, and its address has the CSP `sandbox`: an SVG runs nothing and loads
// nothing in either. So its elements are not judged.

const SVG = 'http://www.w3.org/2000/svg';
const XMLNS = new RegExp(`\\sxmlns\\s*=\\s*["']${SVG}["']`);
/** The attributes of the first element, behind a declaration and comments. */
const ROOT = /^(?:\s|<\?[^>]*>|<!--(?:(?!-->).)*-->)*<svg(\s[^>]*)>/s;

const VIEW_BOX = /\sviewBox\s*=\s*["']\s*(?:[\d.-]+[\s,]+){2}(?<width>[\d.]+)[\s,]+(?<height>[\d.]+)\s*["']/;
const MAX_SIDE = 100_000;

/** The size of an SVG, by its `viewBox`. @param body of bounded length @throws {FileError} */
export function svgSize(body: Buffer): ImageSize {
  const text = body.toString();
  // An entity of few bytes can stand for millions of elements.
  if (/<!(?:DOCTYPE|ENTITY)/i.test(text))
    throw new FileError(['has a document type (<!DOCTYPE>): take that line out']);
  const [, root] = ROOT.exec(text) ?? [];
  if (root === undefined || !Buffer.from(text).equals(body))
    throw new FileError(['is neither a PNG nor an SVG in UTF-8']);
  if (!XMLNS.test(root)) throw new FileError([`needs xmlns="${SVG}" in its <svg>`]);
  const [width = 0, height = 0] = Object.values(VIEW_BOX.exec(root)?.groups ?? {}).map(Number);
  if (width > 0 && height > 0 && Math.max(width, height) <= MAX_SIDE) return { width, height };
  throw new FileError(['needs a viewBox such as "0 0 32 32"']);
}
