import { type RawRequest, spoiled, writeRequest } from '../support/http/rawRequest.ts';
import { ROUTES, type Route, type Sample, type Samples } from '../support/http/samples.ts';

export interface TextSent {
  readonly route: Route;
  readonly place: string;
  /** Whether the text replaces a secret, or the name of its holder. */
  readonly isForSecret: boolean;
  readonly request: RawRequest;
}

/** Headers that a text may stand in, by the reader of the answer. Others and the framing are for `fuzz.test.ts`. */
const HEADERS = { program: ['credentials', 'header authorization'], person: ['header cookie'] };
const COOKIES = ['assent_session', 'assent_device', 'assent_visit'];
const SECRETS =
  / (client_id|client_secret|code|code_verifier|login|(payment_)?password|(\w+_)?token|cookie|authorization)$/;

/**
 * Puts a text into every such place of every route's request, in place of a secret or beside a spoiled one: nothing is written.
 * @param from the address that a proxy tells @param most to how many characters it is cut, in a body and in a URL or header
 */
export function* requestsWith(
  samples: Samples,
  text: string,
  from = '10.0.0.1',
  most = { body: Infinity, head: Infinity },
): Generator<TextSent> {
  const address = { place: 'header x-forwarded-for', splice: { at: 0, drop: 100, insert: from } };
  for (const route of ROUTES)
    for (const place of ['path', ...fieldsOf(samples[route]), ...HEADERS[samples[route].reader]]) {
      const sample = samples[route];
      const isForSecret = SECRETS.test(place) && sample.needs.includes(place.replace('field ', ''));
      const isInBody = route.startsWith('POST ') && place.startsWith('field ');
      const insert = isInBody ? inBody(text.slice(0, most.body)) : inHead(place, text).slice(0, most.head);
      const edits = [address, { place, splice: { at: 0, drop: 10_000, insert } }];
      yield {
        route,
        place,
        isForSecret,
        request: writeRequest(route, isForSecret ? sample : spoiled(sample), edits),
      };
    }
}

const fieldsOf = ({ fields }: Sample) => [...Object.keys(fields), 'unknown'].map((name) => `field ${name}`);

/** UTF-8 as it is, of which a body has room for more than of escapes. */
function inBody(text: string): string {
  return Buffer.from(text.replaceAll(/[%&+#]/g, encodeURIComponent)).toString('latin1');
}

function inHead(place: string, text: string): string {
  if (place === 'path') return `/${encodeURIComponent(text)}`;
  if (place.startsWith('field ')) return encodeURIComponent(text);
  const printable = text.replaceAll(/[^\x20-\x7e]/g, 'x');
  if (place !== 'header cookie') return printable;
  // All three, so that they fit into the headers.
  return COOKIES.map((name) => `${name}=${printable.slice(0, 9_000)}`).join('; ');
}
