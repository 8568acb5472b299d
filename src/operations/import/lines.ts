const LF = 0x0a;
const EMPTY: Buffer = Buffer.alloc(0);
export const MAX_LINE_BYTES = 64 * 1024;

/** Lines without their end. Of a line that is too long only {@link MAX_LINE_BYTES} and one byte are kept. */
export async function* linesOf(chunks: AsyncIterable<string | Buffer>): AsyncGenerator<Buffer> {
  let line = EMPTY;
  for await (const given of chunks) {
    const chunk = typeof given === 'string' ? Buffer.from(given) : given;
    let start = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      yield joined(line, chunk.subarray(start, end));
      line = EMPTY;
      start = end + 1;
    }
    line = joined(line, chunk.subarray(start));
  }
  if (line.length > 0) yield line;
}

function joined(line: Buffer, more: Buffer): Buffer {
  const kept = more.subarray(0, MAX_LINE_BYTES + 1 - line.length);
  return line.length === 0 ? kept : Buffer.concat([line, kept]);
}
