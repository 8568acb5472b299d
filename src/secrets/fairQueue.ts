/** Keys with a known use; a further one evicts the key whose last turn is oldest. */
const MAX_COUNTED = 10_000;

/** A task whose turn it is. */
export interface Turn<Task> {
  readonly task: Task;
  /** To be called once, with the time that the task took: 0 for none. */
  end(milliseconds: number): void;
}

/**
 * A bounded queue, fair to its keys, such as networks or logins: the next is the key that has used least time, and among equals
 * the one that waits longest. Nothing is saved up: a key counts as having used its share of the time until now, at least.
 * A full queue drops the newest task of the key with most tasks; among equals, of the key that has used most time.
 */
export class FairQueue<Task> {
  readonly #capacity: number;
  /** Tasks by key; the key that waits longest comes first. */
  readonly #waiting = new Map<string, Task[]>();
  #size = 0;
  /** Milliseconds by key, on a clock of which {@link #share} is the present; the most recent key comes last. */
  readonly #used = new Map<string, number>();
  /** What a key would have used by now that has always had its turn. */
  #share = 0;
  /** Of the latest task: it stands for another's until that has ended. */
  #milliseconds = 0;

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
  shift(): Turn<Task> | undefined {
    let next: { key: string; tasks: Task[]; used: number } | undefined;
    for (const [key, tasks] of this.#waiting) {
      const used = this.#usedBy(key);
      if (next === undefined || used < next.used) next = { key, tasks, used };
    }
    if (next === undefined) return undefined;
    const { key, tasks, used } = next;
    const [task] = tasks.splice(0, 1) as [Task];
    this.#waiting.delete(key);
    if (tasks.length > 0) this.#waiting.set(key, tasks); // to the end
    this.#size -= 1;
    this.#share = used;
    const expected = this.#milliseconds;
    this.#count(key, used + expected);
    const end = (milliseconds: number) => {
      if (milliseconds > 0) this.#milliseconds = milliseconds;
      this.#count(key, (this.#used.get(key) ?? used) + milliseconds - expected);
      this.#share += milliseconds / (this.#waiting.size + 1);
    };
    return { task, end };
  }

  /** The key whose newest task a full queue drops for another one of `key`: perhaps `key` itself. */
  #findYielding(key: string): string {
    let yielding = key;
    let most = (this.#waiting.get(key)?.length ?? 0) + 1;
    let used = this.#usedBy(key);
    for (const [other, { length }] of this.#waiting) {
      if (length < most || (length === most && this.#usedBy(other) <= used)) continue;
      [yielding, most, used] = [other, length, this.#usedBy(other)];
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

  #usedBy(key: string): number {
    return Math.max(this.#used.get(key) ?? 0, this.#share);
  }

  #count(key: string, used: number): void {
    this.#used.delete(key);
    this.#used.set(key, used);
    const [longestAgo = ''] = this.#used.keys();
    if (this.#used.size > MAX_COUNTED) this.#used.delete(longestAgo);
  }
}
