import { FileError } from '../common/operatorFile.ts';
import { type ImageSize, pngSize } from './png.ts';
import { svgSize } from './svg.ts';

/** A picture of the service or an application, checked, and served unchanged. */
export interface Logo extends ImageSize {
  /** The first 32 hex digits of its SHA-256 and `.svg` or `.png`: other bytes have another address. */
  readonly file: string;
  readonly body: Buffer;
}

/** Every new visitor downloads it, and memory and database keep it. */
export const MAX_LOGO_BYTES = 64 * 1024;

export function contentTypeOf(file: string): string {
  return file.endsWith('.svg') ? 'image/svg+xml; charset=utf-8' : 'image/png';
}

/** Checks a picture for our pages: PNG or SVG. @throws {FileError} */
export function checkLogo(body: Buffer): ImageSize & { readonly extension: 'svg' | 'png' } {
  if (body.length > MAX_LOGO_BYTES) {
    throw new FileError([`has ${body.length} bytes, and may have ${MAX_LOGO_BYTES}`]);
  }
  const extension = body[0] === 0x89 ? 'png' : 'svg';
  const { width, height } = extension === 'png' ? pngSize(body) : svgSize(body);
  const fits = width >= height * 0.99 && width <= height * MAX_RATIO;
  if (fits) return { extension, width, height };
  const shape = `square, or up to ${MAX_RATIO} times as wide as high`;
  throw new FileError([`is ${width} by ${height}: it must be ${shape}`]);
}

const MAX_RATIO = 3;
