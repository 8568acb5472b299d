/** Keys with a known use; a further one evicts the key whose last turn is oldest. */
const MAX_COUNTED = 10_000;

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
  /** The oldest first. */
  readonly #waiting: { readonly key: string; readonly task: Task }[] = [];
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
    return this.#waiting.length;
  }

  hasRoom(key: string): boolean {
    return this.#findYielding(key) !== key;
  }

  /** Adds a task. @returns the task without room: one of another key, or this one; undefined if all fit */
  push(key: string, task: Task): Task | undefined {
    const yielding = this.#findYielding(key);
    this.#waiting.push({ key, task });
    if (yielding === undefined) return undefined;
    const newest = this.#waiting.findLastIndex((each) => each.key === yielding);
    return this.#waiting.splice(newest, 1)[0]?.task;
  }

  /** Takes the next key's oldest task. @param busy keys that are passed over */
  shift(busy?: ReadonlySet<string>): Turn<Task> | undefined {
    const ready = this.#waiting.filter(({ key }) => !busy?.has(key));
    const [next] = ready.sort((one, other) => this.#usedBy(one.key) - this.#usedBy(other.key));
    if (next === undefined) return undefined;
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    const { key, task } = next;
    const least = this.#usedBy(key);
    this.#share = least;
    const expected = this.#milliseconds;
    this.#count(key, least + expected);
    const end = (milliseconds: number) => {
      if (milliseconds > 0) this.#milliseconds = milliseconds;
      this.#count(key, (this.#used.get(key) ?? least) + milliseconds - expected);
      this.#share += milliseconds / (new Set(this.#waiting.map((each) => each.key)).size + 1);
    };
    return { task, end };
  }

  /** The key whose newest task a full queue drops for another one of `key`: perhaps `key` itself. Undefined if there is room. */
  #findYielding(key: string): string | undefined {
    if (this.size < this.#capacity) return undefined;
    const counts = new Map([[key, 1]]);
    for (const each of this.#waiting) counts.set(each.key, (counts.get(each.key) ?? 0) + 1);
    const greedy = [...counts].sort(([a, m], [b, n]) => n - m || this.#usedBy(b) - this.#usedBy(a));
    return greedy[0]?.[0];
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
