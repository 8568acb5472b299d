/** Keys with a count of turns; a further one evicts the key whose last turn is oldest. */
const MAX_COUNTED = 10_000;

/**
 * A bounded queue, fair to its keys, such as networks or logins: round robin. A full queue drops the newest task of the key
 * with most tasks; among equals, of the key with most turns since the queue was last empty.
 */
export class FairQueue<Task> {
  readonly #capacity: number;
  /** Tasks by key; the next key comes first. */
  readonly #waiting = new Map<string, Task[]>();
  #size = 0;
  /** Turns since the queue was last empty; the most recent key comes last. */
  readonly #turns = new Map<string, number>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#size;
  }

  hasRoom(key: string): boolean {
    return this.#size < this.#capacity || this.#findYielding(key) !== key;
  }

  /** Adds a task. @returns the task without room: one of another key, or this one; undefined if all fit */
  push(key: string, task: Task): Task | undefined {
    const yielding = this.#size < this.#capacity ? undefined : this.#findYielding(key);
    const tasks = this.#waiting.get(key);
    if (tasks === undefined) this.#waiting.set(key, [task]);
    else tasks.push(task);
    this.#size += 1;
    return yielding === undefined ? undefined : this.#takeNewest(yielding);
  }

  /** Takes the next key's oldest task. */
  shift(): Task | undefined {
    const [next] = this.#waiting;
    if (next === undefined) return undefined;
    const [key, tasks] = next;
    const task = tasks.shift();
    this.#waiting.delete(key);
    if (tasks.length > 0) this.#waiting.set(key, tasks); // to the end
    this.#size -= 1;
    this.#countTurn(key);
    return task;
  }

  /** The key whose newest task a full queue drops for another one of `key`: perhaps `key` itself. */
  #findYielding(key: string): string {
    let yielding = key;
    let most = (this.#waiting.get(key)?.length ?? 0) + 1;
    let turns = this.#turnsOf(key);
    for (const [other, { length }] of this.#waiting) {
      if (length < most || (length === most && this.#turnsOf(other) <= turns)) continue;
      [yielding, most, turns] = [other, length, this.#turnsOf(other)];
    }
    return yielding;
  }

  #takeNewest(key: string): Task | undefined {
    const tasks = this.#waiting.get(key);
    const task = tasks?.pop();
    if (tasks?.length === 0) this.#waiting.delete(key);
    this.#size -= 1;
    return task;
  }

  #turnsOf(key: string): number {
    return this.#turns.get(key) ?? 0;
  }

  #countTurn(key: string): void {
    const turns = this.#turnsOf(key) + 1;
    this.#turns.delete(key);
    this.#turns.set(key, turns);
    const [longestAgo = ''] = this.#turns.keys();
    if (this.#turns.size > MAX_COUNTED) this.#turns.delete(longestAgo);
    if (this.#size === 0) this.#turns.clear();
  }
}
