import type { Block, Exchange } from './recorder.ts';

/** What a message is, which says what its title and its lesson are (`demo.messages` in the languages). */
export type MessageKind =
  | 'request'
  | 'code'
  | 'rejected'
  | 'failed'
  | 'unasked'
  | 'token'
  | 'refused'
  | 'replayed'
  | 'unanswered'
  | 'allows'
  | 'inactive'
  | 'annulled'
  | 'stillWorks'
  | 'givenBack'
  | 'paid'
  | 'notPaid';

/** Who sends it to whom (`demo.ways`). */
export type Way =
  | 'browserToServer'
  | 'browserToShop'
  | 'shopToServer'
  | 'shopToPayments'
  | 'paymentsToServer';

export interface Message extends Exchange {
  readonly kind: MessageKind;
  readonly way: Way;
  /** Of a refusal: the error (`demo.errors`) or the verdict (`demo.verdicts`) that says why. */
  readonly why?: string;
}

/** The last exchange that was recorded; one that was never answered has nothing to show. */
export function messageOf(
  kind: MessageKind,
  way: Way,
  exchange: Exchange | undefined,
  why?: string,
): Message {
  const { sent, received } = exchange ?? NOTHING;
  return { kind, way, sent, received, ...(why === undefined ? {} : { why }) };
}

const NOTHING: Exchange = { sent: { line: '…' }, received: null };

/** A form that the browser posts. */
export function formBlock(url: string, fields: Readonly<Record<string, string>>): Block {
  const headers = [['content-type', 'application/x-www-form-urlencoded']] as const;
  return { line: `POST ${url}`, headers, fields: Object.entries(fields) };
}

/** The address that a redirect leads to. */
export function addressBlock(url: string, query: URLSearchParams): Block {
  return { line: `GET ${url}`, fields: [...query].slice(0, MAX_FIELDS).map(clipped) };
}

const MAX_FIELDS = 20;
const MAX_VALUE_CHARACTERS = 2000;

function clipped([name, value]: readonly [string, string]): readonly [string, string] {
  return [name.slice(0, MAX_VALUE_CHARACTERS), value.slice(0, MAX_VALUE_CHARACTERS)];
}
