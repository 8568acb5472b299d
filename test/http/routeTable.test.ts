import { expect, it } from 'vitest';
import { RouteTable } from '../../src/http/server/routeTable.ts';

it('errors of a route take the form of its own group, and of an unknown path that of its neighbours', () => {
  const table = new RouteTable();
  table.add('/oauth/token', 'POST', 'json');
  table.add('/oauth/token/help', 'GET', 'page');
  table.add('/health/live', 'GET', 'json');
  const answers = ['/oauth/token', '/oauth/token/help', '/oauth/other', '/health/other', '/other'].map(
    (path) => table.answersAt(path),
  );
  expect(answers).toEqual(['json', 'page', 'page', 'json', 'page']);
});
