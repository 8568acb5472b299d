import { createHash } from 'node:crypto';

/** Choices that a seed repeats: everybody who chooses has dice of their own, so that nobody's choices depend on timing. */
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

  pick<T>(from: readonly [T, ...T[]]): T {
    return from[this.below(from.length)] ?? from[0];
  }

  /** One of the names, each as often as its weight says. */
  weighed<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const names = Object.keys(weights) as Name[];
    return this.pick(names.flatMap((name) => Array(weights[name]).fill(name)) as [Name, ...Name[]]);
  }
}
