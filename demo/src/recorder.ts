/** One side of an exchange as shown: first line, headers, and fields or text. Secrets are masked. */
export interface Block {
  readonly line: string;
  readonly headers?: readonly Field[];
  readonly fields?: readonly Field[];
  readonly text?: string;
}

export type Field = readonly [name: string, value: string];

export interface Exchange {
  readonly sent: Block;
  readonly received: Block | null;
}

const MAX_TEXT_CHARACTERS = 6000;
const MAX_FLAT_CHARACTERS = 130;
const SHOWN_REQUEST_HEADERS = ['content-type', 'authorization'];
const SHOWN_RESPONSE_HEADERS = ['content-type', 'cache-control', 'retry-after'];
/** Fields hidden in full, and fields shown in part to be recognizable. */
const HIDDEN = ['client_secret', 'authorization'];
const SHORTENED = ['access_token', 'token', 'code_verifier'];

/** Records the last exchange through its `fetch`, also one without an answer. */
export class Recorder {
  last: Exchange = { sent: { line: '…' }, received: null };

  readonly fetch: typeof globalThis.fetch = async (url, init) => {
    const sent = await sentBlock(new Request(url, init));
    this.last = { sent, received: null };
    const response = await fetch(url, init);
    this.last = { sent, received: await receivedBlock(response.clone()) };
    return response;
  };
}

async function sentBlock(request: Request): Promise<Block> {
  const fields = [...new URLSearchParams(await request.text())].map(masked);
  const headers = headersOf(request.headers, SHOWN_REQUEST_HEADERS).map(masked);
  return { line: `${request.method} ${request.url}`, headers, fields };
}

async function receivedBlock(response: Response): Promise<Block> {
  const headers = headersOf(response.headers, SHOWN_RESPONSE_HEADERS);
  const text = readable(await response.text()).slice(0, MAX_TEXT_CHARACTERS);
  return { line: `${response.status} ${response.statusText}`, headers, text };
}

function headersOf(headers: Headers, shown: readonly string[]): Field[] {
  return [...headers].filter(([name]) => shown.includes(name));
}

function readable(text: string): string {
  const mask = (name: string, value: unknown) =>
    typeof value === 'string' ? masked([name, value])[1] : value;
  try {
    return readableJson(JSON.parse(text, mask));
  } catch {
    return text;
  }
}

/** JSON on several lines; objects without nested values take one line each. */
export function readableJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(/[{[]\n[^{}[\]]*\n\s*[}\]]/g, (object) =>
    object.length <= MAX_FLAT_CHARACTERS ? object.replaceAll(/\s*\n\s*/g, ' ') : object,
  );
}

function masked([name, value]: Field): Field {
  if (HIDDEN.includes(name)) return [name, value.replace(/\S+$/, '••••••••')];
  return [name, SHORTENED.includes(name) ? shortened(value) : value];
}

/** Both ends of a secret: enough to recognize it, too little to use it. */
export function shortened(secret: string): string {
  return `${secret.slice(0, 14)}…${secret.slice(-4)}`;
}
