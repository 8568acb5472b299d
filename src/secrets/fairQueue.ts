/** How often the turns that a share had are halved, so that late ones count more. */
const HALF_LIFE_MS = 10_000;
/** Shares whose turns are remembered. */
const MAX_REMEMBERED = 10_000;

/**
 * A bounded queue that no single share can fill: shares take turns (round robin), and when it is full the share with the
 * most tasks gives up its newest one; among equals, the one that had the most turns lately.
 */
export class FairQueue<Task> {
  readonly #places: number;
  /** Tasks by share; the share whose turn it is comes first. */
  readonly #waiting = new Map<string, Task[]>();
  #size = 0;
  /** Turns of each share, decaying. */
  readonly #turns = new Map<string, number>();
  #halveAt = 0;

  constructor(places: number) {
    this.#places = places;
  }

  /** Tasks that wait. */
  get size(): number {
    return this.#size;
  }

  /** Whether another task of this share would get a place. */
  hasRoom(share: string): boolean {
    return this.#size < this.#places || this.#findYielding(share) !== undefined;
  }

  /** Adds a task. @returns the task that has no place: one of another share, or this one; undefined when all have */
  push(share: string, task: Task): Task | undefined {
    let displaced: Task | undefined;
    if (this.#size >= this.#places) {
      const yielding = this.#findYielding(share);
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
    this.#rememberTurn(share);
    return task;
  }

  /**
   * The share with the most tasks, when those are more than this one would have; among equals, this one included, the one that
   * had the most turns. Undefined when that is this one.
   */
  #findYielding(share: string): string | undefined {
    let yielding: string | undefined;
    let most = (this.#waiting.get(share)?.length ?? 0) + 1;
    let turns = this.#turnsOf(share);
    for (const [other, { length }] of this.#waiting) {
      if (length < most || (length === most && this.#turnsOf(other) <= turns)) continue;
      [yielding, most, turns] = [other, length, this.#turnsOf(other)];
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

  #turnsOf(share: string): number {
    return this.#turns.get(share) ?? 0;
  }

  #rememberTurn(share: string): void {
    const now = performance.now();
    if (now >= this.#halveAt) {
      this.#halveAt = now + HALF_LIFE_MS;
      for (const [other, turns] of this.#turns) {
        if (turns < 1) this.#turns.delete(other);
        else this.#turns.set(other, turns / 2);
      }
    }
    if (this.#turns.size < MAX_REMEMBERED || this.#turns.has(share)) {
      this.#turns.set(share, this.#turnsOf(share) + 1);
    }
  }
}
