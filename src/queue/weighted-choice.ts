/** Smooth weighted round robin: over time each candidate is chosen in proportion to its weight, evenly spread. */
export class WeightedChoice<T extends { weight: number }> {
  readonly #credit = new WeakMap<T, number>();

  next(candidates: readonly T[]): T | undefined {
    let best: T | undefined;
    let most = Number.NEGATIVE_INFINITY;
    let total = 0;
    for (const candidate of candidates) {
      total += candidate.weight;
      const credit = (this.#credit.get(candidate) ?? 0) + candidate.weight;
      this.#credit.set(candidate, credit);
      if (credit <= most) continue;
      most = credit;
      best = candidate;
    }
    if (best) this.#credit.set(best, most - total);
    return best;
  }
}
