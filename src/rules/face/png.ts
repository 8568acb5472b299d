import { FileError } from '../common/operatorFile.ts';

/** A picture's size, in its own units. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** The signature, then length and type of the header. */
const BEGINNING = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
/** The last chunk, which is empty. */
const END = Buffer.from('0000000049454e44ae426082', 'hex');
const MIN_PIXELS = 16;
/** A browser unpacks at most 4 MB, however small the file is. */
const MAX_PIXELS = 1024;

/** The size of a PNG: a whole one, which nothing follows and nothing animates. @throws {FileError} */
export function pngSize(body: Buffer): ImageSize {
  const isFramed = body.indexOf(BEGINNING) === 0 && body.subarray(-END.length).equals(END);
  const picture = body.indexOf('IDAT');
  if (!isFramed || picture < 0)
    throw new FileError(['is not a whole PNG: it must begin with IHDR, have IDAT and end with IEND']);
  if (body.subarray(0, picture).includes('acTL'))
    throw new FileError(['is animated, which a logo must not be']);
  const [width, height] = [body.readUInt32BE(16), body.readUInt32BE(20)];
  if (Math.min(width, height) >= MIN_PIXELS && Math.max(width, height) <= MAX_PIXELS)
    return { width, height };
  const sides = `each side must have ${MIN_PIXELS} to ${MAX_PIXELS}`;
  throw new FileError([`is ${width} by ${height} pixels: ${sides}`]);
}
