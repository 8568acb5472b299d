/** All latencies in milliseconds: percentiles are exact. */
export class Latencies {
  /** @type {number[]} */
  #values = [];

  /** @param {number} milliseconds */
  add(milliseconds) {
    this.#values.push(milliseconds);
  }

  get count() {
    return this.#values.length;
  }

  summary() {
    const sorted = Float64Array.from(this.#values).sort();
    const at = (/** @type {number} */ share) =>
      sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null;
    return { p50: at(0.5), p99: at(0.99), p999: at(0.999), max: sorted.at(-1) ?? null };
  }
}
