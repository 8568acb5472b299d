import type { Row } from '../../operations/snakeCase.ts';
import { parseReceiptNumber } from '../../rules/account/receiptNumber.ts';
import { UUID } from '../../secrets/tokens.ts';
import type { Endpoint } from '../endpoints.ts';
import { type Ask, endpointNamed, orNull } from './asking.ts';
import { addressOfPage, pageOf } from './related.ts';

const MAX_FOUND = 20;

interface Found {
  /** The address of the only thing that can be meant. */
  readonly at?: string | undefined;
  readonly lists: readonly { readonly list: Endpoint; readonly items: readonly Row[] }[];
  /** The lists have not all. */
  readonly isPart: boolean;
}

/** Finds whose case it is: by an id, or by words of a login or name. */
export async function search(text: string, ask: Ask): Promise<Found> {
  const id = text.toLowerCase();
  const isReference = /^[0-9a-f]{10}$/.test(id) || parseReceiptNumber(id) !== null;
  const named = UUID.test(id) ? { grant_id: id, login: id } : isReference ? { reference: id } : {};
  for (const field of Object.keys(named)) {
    const page = pageOf(named, [field]);
    if (page && (await orNull(ask(page.endpoint, page.given))))
      return { at: addressOfPage(page), lists: [], isPart: false };
  }
  return searchLists(text, ask);
}

async function searchLists(text: string, ask: Ask): Promise<Found> {
  const [users, clients] = [endpointNamed('users.list'), endpointNamed('clients.list')];
  const found = new Map<unknown, Row>();
  const client = await orNull(ask(endpointNamed('clients.show'), { client_id: text }));
  if (client) found.set(client.client_id, client);
  let isPart = false;
  for (const [list, given] of [
    [users, { external_id: text }],
    [users, { search: text }],
    [clients, { name: text }],
  ] as const) {
    const answer = await orNull(ask(list, { ...given, limit: `${MAX_FOUND}` }));
    isPart ||= typeof answer?.next === 'string';
    for (const row of (answer?.items ?? []) as readonly Row[]) found.set(row.user_id ?? row.client_id, row);
  }
  // The list of many may lack the login that was typed.
  const exact = isPart ? await orNull(ask(endpointNamed('users.show'), { login: text })) : null;
  const rows = [...found.values()];
  const one = exact ?? (rows.length === 1 ? rows[0] : undefined);
  const page = one && pageOf(one);
  const itemsOf = (field: string) => rows.filter((row) => row[field] !== undefined);
  const lists = [
    { list: users, items: itemsOf('user_id') },
    { list: clients, items: itemsOf('client_id') },
  ];
  return { at: page && addressOfPage(page), lists, isPart };
}
