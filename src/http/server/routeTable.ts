import type { FastifyInstance } from 'fastify';

/** The error format of a route: JSON for programs, pages for users. */
export type Answers = 'json' | 'page';

/** Exceeds every route's segments, and bounds the work for a path of thousands. */
const MAX_SEGMENTS = 8;

/** By path, for unrouted requests: `hasRoute` would treat the path as a pattern. */
export type RouteTable = { readonly path: string; readonly method: string; readonly answers: Answers }[];

/** A path's methods, as in `Allow`; empty without a route. */
export function allowedAt(routes: RouteTable, path: string): string {
  const methods = routes.flatMap((route) => (route.path === path ? [route.method] : []));
  return methods.toSorted().join(', ');
}

/** The format of all routes at the path or below it, else of its nearest folder; pages if they differ. */
export function answersAt(routes: RouteTable, path: string): Answers {
  for (const segments = path.split('/', MAX_SEGMENTS); segments.length > 0; segments.pop()) {
    const folder = `${segments.join('/')}/`;
    const inside = routes.filter((route) => `${route.path}/`.startsWith(folder));
    if (inside.length > 0) return inside.every(({ answers }) => answers === 'json') ? 'json' : 'page';
  }
  return 'page';
}

/** For a group of routes. Call it before adding them. */
export function answerWith(group: FastifyInstance, answers: Answers): void {
  group.addHook('onRoute', ({ url: path, method: methods }) => {
    group.routeTable.push(...[methods].flat().map((method) => ({ path, method, answers })));
  });
}
