/** A text in one of the ways in which it can be written down. */
export interface Spelling {
  /** For example "in hex". */
  readonly how: string;
  readonly text: string;
}

// What a log cuts short, or takes out of the middle, is a leak too: every 19 characters in a row hold one of these pieces.
const PIECE_LENGTH = 16;
const PIECE_STEP = 4;
const PIECE_BYTES = 12;

/** How a secret, or a telling part of it, can get into a log, a metric or a row: as it is, encoded, or the bytes behind it. */
export function spellingsOf(secret: string): Spelling[] {
  const beginning = secret.slice(0, PIECE_LENGTH);
  const end = bytesBehind(secret).subarray(-PIECE_BYTES);
  return [
    ...piecesOf(secret).map((text) => ({ how: 'as it is', text })),
    { how: 'in lower case', text: beginning.toLowerCase() },
    { how: 'percent-encoded', text: encodeURIComponent(beginning) },
    { how: 'percent-encoded', text: new URLSearchParams([['', beginning]]).toString().slice(1) },
    { how: 'escaped', text: JSON.stringify(beginning).slice(1, -1) },
    ...base64Of(beginning).map((text) => ({ how: 'in base64', text })),
    ...[Buffer.from(beginning), end].flatMap((bytes) => [
      { how: 'in hex', text: bytes.toString('hex') },
      // As `console.log` and `JSON.stringify` show a Buffer.
      { how: 'byte by byte', text: (bytes.toString('hex').match(/../g) ?? []).join(' ') },
      { how: 'byte by byte', text: bytes.join(',') },
    ]),
  ];
}

function piecesOf(secret: string): string[] {
  const steps = Math.max(0, Math.floor((secret.length - PIECE_LENGTH) / PIECE_STEP));
  return Array.from({ length: steps + 1 }, (_, step) => secret.substr(step * PIECE_STEP, PIECE_LENGTH));
}

/** What a client secret is the hex of, and everything else that we make the base64url. */
function bytesBehind(secret: string): Buffer {
  const text = secret.replace(/^assent_a[ct]_/, '');
  return Buffer.from(text, /^[0-9a-f]+$/.test(text) ? 'hex' : 'base64url');
}

/** What both kinds of base64 make of a text among others, as in HTTP Basic: the letters that don’t depend on neighbours. */
function base64Of(text: string): string[] {
  const bytes = Buffer.from(text);
  return [0, 1, 2].flatMap((begin) => {
    const whole = bytes.subarray(begin, bytes.length - ((bytes.length - begin) % 3));
    return [whole.toString('base64'), whole.toString('base64url')];
  });
}
