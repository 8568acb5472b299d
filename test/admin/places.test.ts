import { describe, expect, it } from 'vitest';
import { PLACES } from '../../src/admin/places.ts';
import * as audit from '../../src/operations/audit.ts';
import { checkDatabase, checkInvariants } from '../../src/operations/doctor.ts';
import * as imports from '../../src/operations/import/imports.ts';
import { maintain } from '../../src/operations/maintain.ts';
import { useAdmin } from '../support/admin.ts';
import { ALL_OPERATIONS } from '../support/allOperations.ts';

/** For the owner of the tables, or about the machine where they run: commands only. */
const OWNERS: readonly unknown[] = [
  maintain,
  checkDatabase,
  checkInvariants,
  audit.prune,
  imports.users,
  imports.clients,
  imports.grants,
];

const admin = await useAdmin();

describe('the routes of operators', () => {
  it('are the operations, except those of the owner of the tables', () => {
    const placed = PLACES.map(({ operation }) => operation);
    expect(new Set([...placed, ...OWNERS])).toEqual(new Set(ALL_OPERATIONS));
    expect(placed).toHaveLength(ALL_OPERATIONS.length - OWNERS.length);
  });

  it('follow one naming rule', () => {
    const said = PLACES.map(({ method, path, isMade }) => `${method} ${path}${isMade ? ' 201' : ''}`);
    expect(said.toSorted()).toMatchInlineSnapshot(`
      [
        "DELETE /v1/clients/{client_id}",
        "DELETE /v1/clients/{client_id}/secrets/{secret_id}",
        "DELETE /v1/operators/{name}",
        "DELETE /v1/resources/{resource_id}",
        "DELETE /v1/resources/{resource_id}/secrets/{secret_id}",
        "DELETE /v1/users/{login}",
        "GET /v1/audit",
        "GET /v1/audit/next",
        "GET /v1/clients",
        "GET /v1/clients/{client_id}",
        "GET /v1/clients/{client_id}/refusals",
        "GET /v1/clients/{client_id}/secrets",
        "GET /v1/grants",
        "GET /v1/grants/{grant_id}",
        "GET /v1/operators",
        "GET /v1/refusals/{reference}",
        "GET /v1/resources",
        "GET /v1/resources/{resource_id}",
        "GET /v1/resources/{resource_id}/secrets",
        "GET /v1/users",
        "GET /v1/users/{login}",
        "PATCH /v1/clients/{client_id}",
        "PATCH /v1/users/{login}",
        "POST /v1/clients 201",
        "POST /v1/clients/{client_id}/block",
        "POST /v1/clients/{client_id}/secrets 201",
        "POST /v1/clients/{client_id}/unblock",
        "POST /v1/grants/revoke",
        "POST /v1/operators 201",
        "POST /v1/resources 201",
        "POST /v1/resources/{resource_id}/block",
        "POST /v1/resources/{resource_id}/secrets 201",
        "POST /v1/resources/{resource_id}/unblock",
        "POST /v1/tokens/show",
        "POST /v1/users 201",
        "POST /v1/users/{login}/block",
        "POST /v1/users/{login}/set-password",
        "POST /v1/users/{login}/sign-out",
        "POST /v1/users/{login}/unblock",
      ]
    `);
  });

  it('have no secret in a path or a query', () => {
    const inUrl = PLACES.flatMap(({ method, fields }) =>
      [...fields].flatMap(([name, { isId }]) =>
        isId || method === 'GET' || method === 'DELETE' ? [name] : [],
      ),
    );
    expect(inUrl.filter((name) => /password|token|secret(?!_id)/.test(name))).toEqual([]);
  });

  it.each(PLACES)(
    'refuse an operator with a lower role: $method $path',
    async ({ method, path, operation }) => {
      const { effect } = operation;
      const url = path.replaceAll(/\{\w+\}/g, 'x');
      const withRole = async (role: typeof effect) =>
        (await admin.call(`${method} ${url}`, undefined, await admin.tokenFor(role))).status;
      const lower = ({ reads: [], changes: ['reads'], destroys: ['reads', 'changes'] } as const)[effect];
      for (const role of lower) expect([role, await withRole(role)]).toEqual([role, 403]);
      expect(await withRole(effect)).not.toBe(403);
    },
  );

  it.each([...new Set(PLACES.map(({ path }) => path))])(
    'answer other methods with 405 and Allow: %s',
    async (path) => {
      const taken = PLACES.filter((place) => place.path === path).map(({ method }) => method as string);
      const url = path.replaceAll(/\{\w+\}/g, 'x');
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        if (taken.includes(method)) continue;
        const { status, headers } = await admin.call(`${method} ${url}`);
        expect([status, headers.get('allow')?.split(', ').toSorted()]).toEqual([405, taken.toSorted()]);
      }
    },
  );
});
