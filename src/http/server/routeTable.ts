import type { FastifyInstance } from 'fastify';

/** What a route answers with, errors included: JSON for programs, pages for people. */
export type Answers = 'json' | 'page';

declare module 'fastify' {
  interface FastifyInstance {
    readonly routeTable: RouteTable;
  }
}

/** The routes by their paths, for requests that no route takes. `hasRoute` would take the path for a pattern. */
export class RouteTable {
  readonly #methods = new Map<string, string[]>();
  /** By path, and by each of the folders that it is in. */
  readonly #answers = new Map<string, Answers>();
  #depth = 0;

  add(path: string, methods: readonly string[], answers: Answers): void {
    this.#methods.set(path, [...(this.#methods.get(path) ?? []), ...methods]);
    const segments = path.split('/');
    this.#depth = Math.max(this.#depth, segments.length);
    for (; segments.length > 0; segments.pop()) {
      const folder = segments.join('/');
      const others = this.#answers.get(folder) ?? answers;
      this.#answers.set(folder, others === answers ? answers : 'page');
    }
  }

  /** The methods of a path, as `Allow` lists them; null where there is no route. */
  allowedAt(path: string): string | null {
    return this.#methods.get(path)?.toSorted().join(', ') ?? null;
  }

  /** What is answered at any path: what the routes of the nearest folder answer, and pages where they differ. */
  answersAt(path: string): Answers {
    const segments = path.split('/', this.#depth);
    for (; segments.length > 0; segments.pop()) {
      const answers = this.#answers.get(segments.join('/'));
      if (answers !== undefined) return answers;
    }
    return 'page';
  }
}

/** Says what the routes of a group answer with. Call it before they are added. */
export function answerWith(group: FastifyInstance, answers: Answers): void {
  group.addHook('onRoute', ({ url, method }) => group.routeTable.add(url, [method].flat(), answers));
}
