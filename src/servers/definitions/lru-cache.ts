/** A map that removes the least recently used entries beyond `maxEntries` or `maxWeight`. */
export class LruCache<Value> {
  readonly maxEntries: number;
  readonly maxWeight: number;
  #weight = 0;
  readonly #entries = new Map<string, { value: Value; weight: number }>();

  constructor(maxEntries: number, maxWeight = Number.POSITIVE_INFINITY) {
    this.maxEntries = maxEntries;
    this.maxWeight = maxWeight;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Stores the value, unless it is heavier than the whole cache. */
  set(key: string, value: Value, weight = 1): void {
    this.delete(key);
    if (weight > this.maxWeight || this.maxEntries < 1) return;
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.maxEntries && this.#weight <= this.maxWeight) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    this.#weight -= entry.weight;
  }
}
