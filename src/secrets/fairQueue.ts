/** Clients whose turns are counted; the one whose last turn is longest ago makes room. */
const MAX_COUNTED = 10_000;

/**
 * A bounded queue that no single client can fill: clients take turns (round robin), and when it is full the client with the
 * most tasks gives up its newest one; among equals, the one that had the most turns since the queue was last empty.
 */
export class FairQueue<Task> {
  readonly #capacity: number;
  /** Tasks by client; the client whose turn it is comes first. */
  readonly #waiting = new Map<string, Task[]>();
  #size = 0;
  /** Turns since the queue was last empty; the client of the latest one comes last. */
  readonly #turns = new Map<string, number>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Tasks that wait. */
  get size(): number {
    return this.#size;
  }

  /** True when another task of this client would be taken. */
  hasRoom(client: string): boolean {
    return this.#size < this.#capacity || this.#findYielding(client) !== undefined;
  }

  /** Adds a task. @returns the task without room: one of another client, or this one; undefined when all have room */
  push(client: string, task: Task): Task | undefined {
    let displaced: Task | undefined;
    if (this.#size >= this.#capacity) {
      const yielding = this.#findYielding(client);
      if (yielding === undefined) return task;
      displaced = this.#takeNewest(yielding);
    }
    const tasks = this.#waiting.get(client);
    if (tasks === undefined) this.#waiting.set(client, [task]);
    else tasks.push(task);
    this.#size += 1;
    return displaced;
  }

  /** Takes the oldest task of the client whose turn it is. */
  shift(): Task | undefined {
    const [next] = this.#waiting;
    if (next === undefined) return undefined;
    const [client, tasks] = next;
    const task = tasks.shift();
    this.#waiting.delete(client);
    if (tasks.length > 0) this.#waiting.set(client, tasks); // behind all others
    this.#size -= 1;
    this.#countTurn(client);
    return task;
  }

  /** The client that gives up a task for one of `client`; undefined when that is `client` itself. */
  #findYielding(client: string): string | undefined {
    let yielding: string | undefined;
    let most = (this.#waiting.get(client)?.length ?? 0) + 1;
    let turns = this.#turnsOf(client);
    for (const [other, { length }] of this.#waiting) {
      if (length < most || (length === most && this.#turnsOf(other) <= turns)) continue;
      [yielding, most, turns] = [other, length, this.#turnsOf(other)];
    }
    return yielding;
  }

  #takeNewest(client: string): Task | undefined {
    const tasks = this.#waiting.get(client);
    const task = tasks?.pop();
    if (tasks?.length === 0) this.#waiting.delete(client);
    this.#size -= 1;
    return task;
  }

  #turnsOf(client: string): number {
    return this.#turns.get(client) ?? 0;
  }

  #countTurn(client: string): void {
    const turns = this.#turnsOf(client) + 1;
    this.#turns.delete(client);
    this.#turns.set(client, turns);
    const [longestAgo = ''] = this.#turns.keys();
    if (this.#turns.size > MAX_COUNTED) this.#turns.delete(longestAgo);
    if (this.#size === 0) this.#turns.clear();
  }
}
