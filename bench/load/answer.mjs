const LINE_END = '\r\n';
const HEAD_END = '\r\n\r\n';

/** @typedef {{ status: number, head: string, body: string }} Answer */

/** @param {Buffer} bytes @returns {Answer | undefined} undefined while a part is missing @throws if not the response to one request */
export function readAnswer(bytes) {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return undefined;
  const head = bytes.toString('latin1', 0, headEnd);
  const read = readBody(bytes, headEnd + HEAD_END.length, head);
  if (read === undefined || bytes.length < read.end) return undefined;
  if (bytes.length > read.end) throw new Error('more than one answer to one request');
  return { status: Number(head.slice(9, 12)), head, body: read.body() };
}

/**
 * @param {Buffer} bytes @param {number} start @param {string} head
 * @returns {{ end: number, body: () => string } | undefined} the end of the response, and its body once complete
 */
function readBody(bytes, start, head) {
  const length = headerOf(head, 'content-length');
  if (length !== undefined) {
    const end = start + Number(length);
    return { end, body: () => bytes.toString('utf8', start, end) };
  }
  if (headerOf(head, 'transfer-encoding') === 'chunked') return readChunks(bytes, start);
  throw new Error(`an answer that doesn't say how long it is: ${head}`);
}

/** RFC 9112, 7.1, without trailers. @param {Buffer} bytes @param {number} start */
function readChunks(bytes, start) {
  /** @type {Buffer[]} */
  const chunks = [];
  for (let at = start; ; ) {
    const lineEnd = bytes.indexOf(LINE_END, at);
    if (lineEnd < 0) return undefined;
    const from = lineEnd + LINE_END.length;
    const to = from + Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    at = to + LINE_END.length;
    if (to === from) return { end: at, body: () => Buffer.concat(chunks).toString('utf8') };
    chunks.push(bytes.subarray(from, to));
  }
}

/** @param {string} head @param {string} name @returns {string | undefined} the value of the first header with this name */
export function headerOf(head, name) {
  return new RegExp(`\\r\\n${name}: *([^\\r]*)`, 'i').exec(head)?.[1];
}
