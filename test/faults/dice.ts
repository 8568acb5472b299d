import { createHash } from 'node:crypto';

/** Choices that a seed repeats: each driver has its own dice, so that its choices depend on no other's timing. */
export class Dice {
  readonly #seed: string;
  #throws = 0;

  constructor(seed: string) {
    this.#seed = seed;
  }

  next(): number {
    const hash = createHash('sha256')
      .update(`${this.#seed} ${this.#throws++}`)
      .digest();
    return hash.readUIntBE(0, 6) / 2 ** 48;
  }

  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  hits(probability: number): boolean {
    return this.next() < probability;
  }

  /** @param from not empty */
  pick<const T>(from: readonly T[]): T {
    return from[this.below(from.length)] as T;
  }

  weighed<const T>(choices: readonly (readonly [weight: number, choice: T])[]): T {
    return this.pick(choices.flatMap(([weight, choice]) => Array<T>(weight).fill(choice)));
  }
}
