import type { FastifyInstance } from 'fastify';

/** The error format of a route: JSON for programs, pages for users. */
export type Answers = 'json' | 'page';

/** Exceeds every route's segments, and bounds the work for a path of thousands. */
const MAX_SEGMENTS = 8;

/** The routes by path, for unrouted requests. `hasRoute` would treat the path as a pattern. */
export class RouteTable {
  readonly #routes: { readonly path: string; readonly method: string; readonly answers: Answers }[] = [];

  add(path: string, method: string, answers: Answers): void {
    this.#routes.push({ path, method, answers });
  }

  /** A path's methods, as in `Allow`; empty without a route. */
  allowedAt(path: string): string {
    const methods = this.#routes.flatMap((route) => (route.path === path ? [route.method] : []));
    return methods.toSorted().join(', ');
  }

  /** The format of all routes at the path or below it, else of its nearest folder; pages if they differ. */
  answersAt(path: string): Answers {
    for (const segments = path.split('/', MAX_SEGMENTS); segments.length > 0; segments.pop()) {
      const folder = `${segments.join('/')}/`;
      const inside = this.#routes.filter((route) => `${route.path}/`.startsWith(folder));
      if (inside.length > 0) return inside.every(({ answers }) => answers === 'json') ? 'json' : 'page';
    }
    return 'page';
  }
}

/** For a group of routes. Call it before adding them. */
export function answerWith(group: FastifyInstance, answers: Answers): void {
  group.addHook('onRoute', ({ url, method: methods }) => {
    for (const method of [methods].flat()) group.routeTable.add(url, method, answers);
  });
}
