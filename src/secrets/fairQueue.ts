/**
 * A queue that no one of its shares can fill for the others: shares take turns, and when there is no place left the
 * share with the most waiting gives up its newest task.
 */
export class FairQueue<Task> {
  readonly #places: number;
  /** Tasks by share; the share whose turn it is comes first. */
  readonly #waiting = new Map<string, Task[]>();
  #size = 0;

  constructor(places: number) {
    this.#places = places;
  }

  /** Whether another task of this share would get a place. */
  hasRoom(share: string): boolean {
    return this.#size < this.#places || this.#longerThan(share) !== undefined;
  }

  /** Adds a task. @returns the task that has no place: one of the longest share, or this one; undefined when all have */
  push(share: string, task: Task): Task | undefined {
    let displaced: Task | undefined;
    if (this.#size >= this.#places) {
      const longest = this.#longerThan(share);
      if (longest === undefined) return task;
      displaced = this.#waiting.get(longest)?.pop();
      this.#size -= 1;
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

  /** The longest share, if it would still be no shorter than this one when it gave up a place to it. */
  #longerThan(share: string): string | undefined {
    let [longest, most] = ['', (this.#waiting.get(share)?.length ?? 0) + 1];
    for (const [name, line] of this.#waiting) if (line.length > most) [longest, most] = [name, line.length];
    return longest === '' ? undefined : longest;
  }
}
