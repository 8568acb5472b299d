import fc from 'fast-check';

/** Bytes with a meaning for framing, encodings, quoting, markup, templates, SQL or the log. */
const TELLING = [
  ...['\r\n', '\n', '\r', '\0', '\t', ' ', '\r\n\r\n', '\r\nX-Injected: yes', '\r\n\r\n<h1>injected</h1>'],
  ...['%0d%0aX-Injected:%20yes', '%00', '%', '%F', '%FF', '%C0%AF', '%ED%A0%80', '%u0000', '%E2%80%AE', '+'],
  ...['&', '=', ';', ',', '"', "'", '\\', ':', '?', '#', '/', '//evil.example', '/../', '@evil.example'],
  ...['<script>alert(1)</script>', '%3Cscript%3E', '"><img src=x>', '<%= it %>', '{{7*7}}'],
  ...["' or 1=1--", '%27', '__proto__', 'constructor', 'toString', '[]', '[a]=b', '&request=', '&scope=x'],
  ...['\x7f', '\x80', '\xff', '\xc3\xa4', '\xe2\x80\xae', '\xef\xbf\xbd', '\xef\xbb\xbf', '\xf0\x9f\x92\xb3'],
  ...['0', '-1', '9'.repeat(30), '1e9', 'NaN', 'null', 'undefined', 'true', '{}'],
];

/** Longer than the limits of a request's query, a body and the headers. */
const LONG = ['x'.repeat(6_100), '%41'.repeat(3_000), '&a=b'.repeat(3_000), 'x'.repeat(33_000)];

const byte = fc.nat(0xff);
const anyBytes = (as: (byte: number) => string) => fc.string({ unit: byte.map(as), maxLength: 12 });

export const bytes = fc.oneof(
  { weight: 6, arbitrary: anyBytes((value) => String.fromCharCode(value)) },
  { weight: 6, arbitrary: anyBytes((value) => `%${value.toString(16).padStart(2, '0')}`) },
  { weight: 8, arbitrary: fc.constantFrom(...TELLING) },
  { weight: 1, arbitrary: fc.constantFrom(...LONG) },
);

/** A change of one place in a value: insertion, deletion, replacement, cut or, with nothing kept, anything at all. */
export interface Splice {
  readonly at: number;
  readonly drop: number;
  readonly insert: string;
}

export const splice: fc.Arbitrary<Splice> = fc.record({
  at: fc.nat(5_000),
  drop: fc.constantFrom(0, 1, 2, 8, 10_000),
  insert: bytes,
});

export function spliced(value: string, { at, drop, insert }: Splice): string {
  const start = at % (value.length + 1);
  return value.slice(0, start) + insert + value.slice(start + drop);
}
