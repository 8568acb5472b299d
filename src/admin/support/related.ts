import type { Row } from '../../operations/snakeCase.ts';
import { type AccessLevel, permits } from '../../rules/account/role.ts';
import { ENDPOINTS, type Endpoint } from '../endpoints.ts';
import type { Given } from './asking.ts';

// What belongs to a thing follows from the paths and fields of the API.

/** An endpoint with values for it. */
export interface Place {
  readonly endpoint: Endpoint;
  readonly given: Given;
}

/** The last id of a path that ends with it. */
export const idOf = ({ path }: Endpoint) => /(\w+)\}$/.exec(path)?.[1];
const hasNoId = ({ path }: Endpoint) => !path.includes('{');
const parentOf = ({ path }: Endpoint) => path.replace(/\/[^/]+$/, '');

export const verbOf = ({ name }: Endpoint) => name.split('.').at(-1) ?? '';

/** Pages of things, by the field that names one, in the order in which an act is about them. */
const PAGES = ['grant_id', 'login', 'user_id', 'client_id', 'resource_id', 'reference'].map((field) => {
  const id = field === 'user_id' ? 'login' : field;
  return { field, id, endpoint: ENDPOINTS.find((one) => one.method === 'GET' && idOf(one) === id) };
});

/** The page of the thing that a row is about. @param fields to look at */
export function pageOf(row: Row, fields = Object.keys(row)): Place | undefined {
  const page = PAGES.find(({ field }) => fields.includes(field) && row[field]);
  return page?.endpoint && { endpoint: page.endpoint, given: { [page.id]: row[page.field] } };
}

/** Its address. Fields that aren't in the path are in the query. */
export function addressOf(path: string, given: Given): string {
  const query = new URLSearchParams();
  const named = Object.entries(given).reduce(
    (whole, [name, value]) => {
      const at = whole.replace(`{${name}}`, encodeURIComponent(String(value)));
      if (at === whole) query.set(name, String(value));
      return at;
    },
    path.replace(/^\/v1/, '/support'),
  );
  return query.size === 0 ? named : `${named}?${query}`;
}

export const addressOfPage = ({ endpoint, given }: Place, more: Given = {}) =>
  addressOf(endpoint.path, { ...given, ...more });

/** Lists of what a thing has: they follow it in the path, or take its id as a filter. */
export function listsOf(thing: Endpoint): Endpoint[] {
  return ENDPOINTS.filter(
    (one) =>
      one.operation.isList &&
      (parentOf(one) === thing.path ||
        (hasNoId(one) && one.others.includes(idOf(thing) ?? '') && parentOf(thing) !== one.path)),
  );
}

/** What a role may do with a thing, or add to a list, except what would change nothing. */
export function verbsOf(page: Endpoint, row: Row, role: AccessLevel): Endpoint[] {
  const id = idOf(page);
  const hasEnded = ['revoked', 'expired', 'code expired'].includes(String(row.state));
  const useless: Readonly<Record<string, boolean>> = {
    create: id !== undefined,
    block: row.status === 'blocked',
    unblock: row.status === 'active' && !row.wait_seconds,
    revoke: hasEnded,
    lower: hasEnded,
  };
  const isAbout = (one: Endpoint) =>
    one.path === page.path ||
    (id !== undefined && (parentOf(one) === page.path || (hasNoId(one) && one.others.includes(id))));
  return ENDPOINTS.filter(
    (one) =>
      one.operation.effect !== 'reads' &&
      permits(role, one.operation.effect) &&
      !useless[verbOf(one)] &&
      isAbout(one),
  );
}

/** What ends a row of a list: an authorization, or what has no page of its own. */
export function verbOfRow(list: Endpoint, row: Row, role: AccessLevel): Place | undefined {
  const page = row.state ? pageOf(row, ['grant_id']) : undefined;
  const ends = page
    ? verbsOf(page.endpoint, row, role)
    : ENDPOINTS.filter((one) => one.method === 'DELETE' && parentOf(one) === list.path && !row.retired_at);
  const [verb] = ends.filter(
    (one) =>
      permits(role, one.operation.effect) && !PAGES.some(({ endpoint }) => endpoint?.path === one.path),
  );
  const id = page ? 'grant_id' : idOf(verb ?? list);
  return verb && id !== undefined ? { endpoint: verb, given: { [id]: row[id] } } : undefined;
}

/** The newest refusal of each rule, with their `count`; other rows as they are. */
export function groupByRule(rows: readonly Row[]): Row[] {
  const groups = new Map<unknown, Row>();
  for (const row of rows) {
    const key = row.rule_id === undefined ? row : `${row.path} ${row.rule_id} ${row.rule}`;
    const { count = 0, ...newest } = groups.get(key) ?? row;
    groups.set(key, row.rule_id === undefined ? row : { count: Number(count) + 1, ...newest });
  }
  return [...groups.values()];
}

/** What a thing is called, such as `Green Mountain (Kitchen) · anna`; empty without a name. */
export function titleOf(row: Row): string {
  const called = [row.name ?? row.client_name, row.instance_name && `(${row.instance_name})`];
  return [called.filter(Boolean).join(' '), row.login].filter(Boolean).join(' · ');
}
