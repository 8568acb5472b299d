import type { FastifyInstance } from 'fastify';

/** The errors of a route: JSON for programs, pages for users. */
export type Answers = 'json' | 'page';

declare module 'fastify' {
  interface FastifyInstance {
    readonly routeTable: RouteTable;
  }
}

/** More segments than any route has, and few enough for a path of thousands. */
const MAX_SEGMENTS = 8;

/** The routes by their paths, for requests that no route takes. `hasRoute` would take the path for a pattern. */
export class RouteTable {
  readonly #routes: { readonly path: string; readonly method: string; readonly answers: Answers }[] = [];

  add(path: string, method: string, answers: Answers): void {
    this.#routes.push({ path, method, answers });
  }

  /** The methods of a path, as `Allow` lists them; empty where there is no route. */
  allowedAt(path: string): string {
    const methods = this.#routes.flatMap((route) => (route.path === path ? [route.method] : []));
    return methods.toSorted().join(', ');
  }

  /** As the routes of the path, or all routes of its nearest folder; pages where they differ. */
  answersAt(path: string): Answers {
    const here = this.#routes.find((route) => route.path === path);
    if (here !== undefined) return here.answers;
    for (const segments = path.split('/', MAX_SEGMENTS); segments.length > 0; segments.pop()) {
      const folder = `${segments.join('/')}/`;
      const inside = this.#routes.filter((route) => `${route.path}/`.startsWith(folder));
      if (inside.length > 0) return inside.every(({ answers }) => answers === 'json') ? 'json' : 'page';
    }
    return 'page';
  }
}

/** For the routes of a group. Call it before they are added. */
export function answerWith(group: FastifyInstance, answers: Answers): void {
  group.addHook('onRoute', ({ url, method: methods }) => {
    for (const method of [methods].flat()) group.routeTable.add(url, method, answers);
  });
}
