/** Pushes of a share are remembered for so long, of so many shares. */
const REMEMBERED_MS = 10_000;
const MOST_REMEMBERED = 10_000;

/**
 * A queue that no one of its shares can fill for the others: shares take turns, and when there is no place left the
 * share with the most waiting gives up its newest task; of shares with as many, the one that has pushed the most lately.
 */
export class FairQueue<Task> {
  readonly #places: number;
  /** Tasks by share; the share whose turn it is comes first. */
  readonly #waiting = new Map<string, Task[]>();
  #size = 0;
  /** How often each share has pushed lately. */
  readonly #pushes = new Map<string, number>();
  #forgetAt = 0;

  constructor(places: number) {
    this.#places = places;
  }

  /** Whether another task of this share would get a place. */
  hasRoom(share: string): boolean {
    return this.#size < this.#places || this.#findYielding(share, this.#pushesOf(share) + 1) !== undefined;
  }

  /** Adds a task. @returns the task that has no place: one of another share, or this one; undefined when all have */
  push(share: string, task: Task): Task | undefined {
    this.#remember(share);
    let displaced: Task | undefined;
    if (this.#size >= this.#places) {
      const yielding = this.#findYielding(share, this.#pushesOf(share));
      if (yielding === undefined) return task;
      displaced = this.#takeNewest(yielding);
    }
    const line = this.#waiting.get(share);
    if (line === undefined) this.#waiting.set(share, [task]);
    else line.push(task);
    this.#size += 1;
    return displaced;
  }

  /** Takes the oldest task of the share whose turn it is. */
  shift(): Task | undefined {
    const [next] = this.#waiting;
    if (next === undefined) return undefined;
    const [share, line] = next;
    const task = line.shift();
    this.#waiting.delete(share);
    if (line.length > 0) this.#waiting.set(share, line); // behind all others
    this.#size -= 1;
    return task;
  }

  /** The share that gives up a place to this one: the longest that is still no shorter then, or as long and pushier. */
  #findYielding(share: string, pushes: number): string | undefined {
    let yielding: string | undefined;
    let most = (this.#waiting.get(share)?.length ?? 0) + 1;
    let pushiest = pushes;
    for (const [other, { length }] of this.#waiting) {
      if (length < most || (length === most && this.#pushesOf(other) <= pushiest)) continue;
      [yielding, most, pushiest] = [other, length, this.#pushesOf(other)];
    }
    return yielding;
  }

  #takeNewest(share: string): Task | undefined {
    const line = this.#waiting.get(share);
    const task = line?.pop();
    if (line?.length === 0) this.#waiting.delete(share);
    this.#size -= 1;
    return task;
  }

  #pushesOf(share: string): number {
    return this.#pushes.get(share) ?? 0;
  }

  #remember(share: string): void {
    const now = performance.now();
    if (now >= this.#forgetAt || this.#pushes.size >= MOST_REMEMBERED) {
      this.#pushes.clear();
      this.#forgetAt = now + REMEMBERED_MS;
    }
    this.#pushes.set(share, this.#pushesOf(share) + 1);
  }
}
