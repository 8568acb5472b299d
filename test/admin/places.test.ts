import { describe, expect, it } from 'vitest';
import { ENDPOINTS } from '../../src/admin/endpoints.ts';
import * as audit from '../../src/operations/audit.ts';
import * as imports from '../../src/operations/import/imports.ts';
import { maintain } from '../../src/operations/maintain.ts';
import { useAdmin } from '../support/admin.ts';
import { ALL_OPERATIONS } from '../support/allOperations.ts';

/** Commands only: they need the owner of the tables. */
const OWNERS: readonly unknown[] = [maintain, audit.prune, imports.users, imports.clients, imports.grants];

const admin = await useAdmin();

describe('the routes of the operators’ API', () => {
  it('cover every operation except those of the owner of the tables', () => {
    const placed = ENDPOINTS.map(({ operation }) => operation);
    expect(new Set([...placed, ...OWNERS])).toEqual(new Set(ALL_OPERATIONS));
    expect(placed).toHaveLength(ALL_OPERATIONS.length - OWNERS.length);
  });

  it('have no secret in a path or a query', () => {
    const inUrl = ENDPOINTS.flatMap(({ method, fields }) =>
      [...fields].flatMap(([name, { isId }]) => (isId || /GET|DELETE/.test(method) ? [name] : [])),
    );
    expect(inUrl.filter((name) => /password|token|secret(?!_id)/.test(name))).toEqual([]);
  });

  it.each([...new Set(ENDPOINTS.map(({ path }) => path))])(
    'answer 405 with an Allow header to other methods: %s',
    async (path) => {
      const taken = ENDPOINTS.filter((place) => place.path === path).map(({ method }) => method as string);
      const url = path.replaceAll(/\{\w+\}/g, 'x');
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        if (taken.includes(method)) continue;
        const { status, headers } = await admin.call(`${method} ${url}`);
        expect([status, headers.get('allow')?.split(', ').toSorted()]).toEqual([405, taken.toSorted()]);
      }
    },
  );
});
