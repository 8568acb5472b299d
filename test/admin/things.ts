import { randomBytes } from 'node:crypto';
import { vi } from 'vitest';
import { obtainToken } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { ledger, newSecret } from '../support/ledger.ts';
import { type Asked, type Described, type DescribedServer, OPERATIONS } from './described.ts';

// A user, an application and the like, and a valid request for each operation.

/** Valid values by the names of fields; a name with two meanings has the noun and a space in front. */
export type Things = Readonly<Record<string, unknown>>;

const unique = () => randomBytes(6).toString('hex');

function secret(): string {
  const made = newSecret();
  ledger.note('password', made);
  return made;
}

function operationOf(id: string): Described {
  const operation = OPERATIONS.find((one) => one.id === id);
  if (operation === undefined) throw new Error(`docs/openapi.json has no operation ${id}`);
  return operation;
}

export async function makeThings({ server, ...api }: DescribedServer): Promise<Things> {
  const [user, client] = [await server.createUser(), await server.createClient()];
  const token = await obtainToken(new Agent(server.baseUrl), client, user);
  const done = async (id: string, asked: Asked) => {
    const { status, body } = await api.ask(operationOf(id), asked);
    if (status >= 300) throw new Error(`${id}: ${JSON.stringify(body)}`);
    return body;
  };
  const first = async (id: string, asked: Asked) => (await done(id, asked)).items[0];
  const { client_id, grant_id } = await first('grantsList', { query: { login: user.login } });
  const { resource_id, resource_secret } = await done('resourcesCreate', { body: { name: 'payment API' } });
  ledger.note('resource secret', resource_secret);
  const operator = await done('operatorsCreate', { body: { name: unique(), role: 'reads' } });
  return {
    ...{ token, client_id, resource_id, grant_id, login: user.login, user_id: user.userId },
    'clients secret_id': (await first('clientsSecretsList', { path: { client_id } })).secret_id,
    'resources secret_id': (await first('resourcesSecretsList', { path: { resource_id } })).secret_id,
    'operatorsRetire name': operator.name,
    'auditList after': '0.0,0',
    'auditNext after': (await done('auditNext', {})).cursor,
    'clientsList after': client_id,
    'grantsList after': `0.${grant_id}`,
    'operatorsList after': operator.name,
    'resourcesList after': resource_id,
    'usersList after': '0',
  };
}

function newValues(): Things {
  return {
    allow_weak: true,
    allowed_rights: ['account-info'],
    days: 1,
    external_id: unique(),
    force: true,
    id: unique(),
    limit: 10,
    most: { days: 30, sum: '5000' },
    name: `Shop ${unique()}`,
    new_login: unique(),
    oauth21: true,
    outcome: 'approved',
    password: secret(),
    payment_password: secret(),
    redirect_uri: 'https://shop.example/callback',
    reviewed: true,
    role: 'changes',
    scope: 'account-info',
    search: 'anna petr',
    secret: secret(),
    since: '2026-11-20',
    site: 'https://shop.example',
    events_uri: 'https://shop.example/events',
    events_internal: false,
    status: 'active',
    until: '2100-01-01T09:30:00+02:00',
    user_limits: true,
    verified: true,
    'usersCreate login': unique(),
  };
}

export async function makeReference({ server, ...api }: DescribedServer): Promise<string> {
  const { headers } = await new Agent(server.baseUrl).post('/oauth/token', {});
  const reference = headers.get('x-request-id') ?? '';
  const show = () => api.ask(operationOf('refusalsShow'), { path: { reference } });
  await vi.waitUntil(async () => (await show()).status === 200, { timeout: 60_000 });
  return reference;
}

/** Of these optional fields, a request needs at least one. */
const ENOUGH: Readonly<Record<string, string>> = {
  auditList: 'login',
  usersCreate: 'password',
  clientsUpdate: 'name',
  grantsList: 'login',
  grantsRevoke: 'grant_id',
  usersUpdate: 'name',
};

export const leastRequest = (operation: Described, things: Things) =>
  rightRequest(operation, things, [ENOUGH[operation.id] ?? '']);

/** A request with all its fields but `grant_id`, which excludes the others. */
export function fullRequest(operation: Described, things: Things): Asked {
  const { required = [], properties = {} } = operation.body ?? {};
  const inQuery = operation.parameters.map(({ name }) => name).filter((name) => name !== 'confirm');
  const inBody = Object.keys(properties).filter((name) => !required.includes(name) && name !== 'grant_id');
  return rightRequest(operation, things, [...inQuery, ...inBody]);
}

/** @param optional names of fields beside the required ones */
function rightRequest({ id, parameters, body }: Described, kept: Things, optional: readonly string[]): Asked {
  const [noun] = /^[a-z]+/.exec(id) ?? [];
  const things = { ...newValues(), ...kept };
  const given = (names: readonly string[]) =>
    Object.fromEntries(
      names.map((name) => {
        const value = things[`${id} ${name}`] ?? things[`${noun} ${name}`] ?? things[name];
        if (value === undefined) throw new Error(`${id} has a field ${name} without a value in newValues`);
        return [name, value];
      }),
    );
  const namesIn = (where: string) =>
    parameters
      .filter((one) => one.in === where && (one.required || optional.includes(one.name)))
      .map(({ name }) => name);
  const { required = [], properties = {} } = body ?? {};
  const own = Object.keys(properties).filter((name) => required.includes(name) || optional.includes(name));
  const asked = { path: given(namesIn('path')) as Record<string, string>, query: given(namesIn('query')) };
  return own.length === 0 ? asked : { ...asked, body: given(own) };
}
