import { FileError } from '../common/operatorFile.ts';

/** A picture's size, in its own units. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const MIN_PIXELS = 16;
/** A browser unpacks at most 4 MB, however small the file is. */
const MAX_PIXELS = 1024;
/** Length, type and checksum of a chunk. */
const FRAME_BYTES = 12;

/** The size of a PNG. Its chunks are read to the end: nothing is animated, truncated or appended. @throws {FileError} */
export function pngSize(body: Buffer): ImageSize {
  if (!body.subarray(0, 8).equals(SIGNATURE)) throw new FileError(['is no PNG: its signature is wrong']);
  const types = chunkTypes(body);
  if (types[0] !== 'IHDR' || !types.includes('IDAT') || types.indexOf('IEND') !== types.length - 1) {
    throw new FileError(['is no whole PNG: it must begin with IHDR, have IDAT and end with IEND']);
  }
  if (types.includes('acTL')) throw new FileError(['is animated, which a logo must not be']);
  const [width, height] = [body.readUInt32BE(16), body.readUInt32BE(20)];
  if (Math.min(width, height) >= MIN_PIXELS && Math.max(width, height) <= MAX_PIXELS)
    return { width, height };
  const sides = `each side must have ${MIN_PIXELS} to ${MAX_PIXELS}`;
  throw new FileError([`is ${width} by ${height} pixels: ${sides}`]);
}

function chunkTypes(body: Buffer): string[] {
  const types: string[] = [];
  let at = SIGNATURE.length;
  while (at < body.length) {
    const end =
      body.length - at < FRAME_BYTES ? Number.POSITIVE_INFINITY : at + FRAME_BYTES + body.readUInt32BE(at);
    if (end > body.length) throw new FileError(['is no whole PNG: it is cut off']);
    types.push(body.toString('latin1', at + 4, at + 8));
    at = end;
  }
  return types;
}
