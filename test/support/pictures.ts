import { crc32, deflateSync } from 'node:zlib';

// Pictures to try as logos.

export function svg(
  inside = '<path fill="#123456" d="M0 0h32v32H0z"/>',
  attributes = 'viewBox="0 0 32 32"',
): Buffer {
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${attributes}>${inside}</svg>`,
  );
}

/** A grey PNG, whole and right. @param extra chunks before the picture's own */
export function png(width: number, height: number, extra: readonly Buffer[] = []): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8; // bits of a sample, and grey
  const rows = Buffer.alloc((width + 1) * height, 0x7f).map((byte, at) =>
    at % (width + 1) === 0 ? 0 : byte,
  );
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    ...extra,
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND'),
  ]);
}

export function chunk(type: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, checksum]);
}
