import { FileError } from '../common/operatorFile.ts';

// Pages draw a logo in an <img>, and its address has the CSP `sandbox`: an SVG runs nothing and loads nothing in either. So only
// what draws much in few bytes is refused, and what leads elsewhere.

/** A picture of the service or an application, checked, and served unchanged. */
export interface Logo {
  /** The first 32 hex digits of its SHA-256 and `.svg` or `.png`: other bytes have another address. */
  readonly file: string;
  readonly body: Buffer;
}

/** Every new visitor downloads it, and memory and database keep it. */
export const MAX_LOGO_BYTES = 64 * 1024;
const MAX_RATIO = 3;

export function contentTypeOf(file: string): string {
  return file.endsWith('.svg') ? 'image/svg+xml; charset=utf-8' : 'image/png';
}

/** Checks a picture for our pages. @returns its kind @throws {FileError} */
export function checkLogo(body: Buffer): 'png' | 'svg' {
  if (body.length > MAX_LOGO_BYTES)
    throw new FileError([`has ${body.length} bytes, more than the maximum of ${MAX_LOGO_BYTES}`]);
  const kind = body[0] === 0x89 ? 'png' : 'svg';
  const { width, height } = kind === 'png' ? pngSize(body) : svgSize(body);
  if (width >= height * 0.99 && width <= height * MAX_RATIO) return kind;
  const shape = `square, or up to ${MAX_RATIO} times as wide as high`;
  throw new FileError([`is ${width} by ${height}: it must be ${shape}`]);
}

/** The signature, then length and type of the header. */
const BEGINNING = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
/** The last chunk, which is empty. */
const END = Buffer.from('0000000049454e44ae426082', 'hex');
const MIN_PIXELS = 16;
/** A browser unpacks at most 4 MB, however small the file is. */
const MAX_PIXELS = 1024;

function pngSize(body: Buffer) {
  const isFramed = body.indexOf(BEGINNING) === 0 && body.subarray(-END.length).equals(END);
  if (!isFramed || !body.includes('IDAT'))
    throw new FileError(['is not a complete PNG: it must begin with IHDR, have IDAT and end with IEND']);
  if (body.includes('acTL')) throw new FileError(['is animated, which a logo must not be']);
  const [width, height] = [body.readUInt32BE(16), body.readUInt32BE(20)];
  if (Math.min(width, height) >= MIN_PIXELS && Math.max(width, height) <= MAX_PIXELS)
    return { width, height };
  const sides = `each side must have ${MIN_PIXELS} to ${MAX_PIXELS}`;
  throw new FileError([`is ${width} by ${height} pixels: ${sides}`]);
}

const SVG = 'http://www.w3.org/2000/svg';
const XMLNS = new RegExp(`\\sxmlns\\s*=\\s*["']${SVG}["']`);
/** The attributes of the first element, behind a declaration and comments. */
const ROOT = /^(?:\s|<\?[^>]*>|<!--(?:(?!-->).)*-->)*<svg(?=\s)((?:[^>"']|"[^"]*"|'[^']*')*)>/s;
const SLOW =
  /<!(?:DOCTYPE|ENTITY)|<(?:[\w.-]+:)?(?:use|pattern|mask|marker|symbol|filter|image|foreignObject|a)(?=[\s/>])|filter\s*[:=]|stroke-dasharray(?!\s*[:=]\s*["']?none)|shadow\s*:|&#|\\/i;
const VIEW_BOX = /\sviewBox\s*=\s*["']\s*(?:[\d.-]+[\s,]+){2}(?<width>[\d.]+)[\s,]+(?<height>[\d.]+)\s*["']/;

/** The size of an SVG, by its `viewBox`. @param body of bounded length @throws {FileError} */
function svgSize(body: Buffer) {
  const text = body.toString();
  const [slow] = SLOW.exec(text) ?? [];
  if (slow !== undefined)
    throw new FileError([`has ${slow}, which a logo must not have: save it as plain SVG, with paths only`]);
  const [, root] = ROOT.exec(text) ?? [];
  if (root === undefined || !Buffer.from(text).equals(body))
    throw new FileError(['is neither a PNG nor an SVG in UTF-8']);
  if (!XMLNS.test(root)) throw new FileError([`needs xmlns="${SVG}" in its <svg>`]);
  const [width = 0, height = 0] = Object.values(VIEW_BOX.exec(root)?.groups ?? {}).map(Number);
  if (width > 0 && height > 0) return { width, height };
  throw new FileError(['needs a viewBox such as "0 0 32 32"']);
}
