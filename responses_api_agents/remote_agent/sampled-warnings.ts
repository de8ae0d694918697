const FIRST = 5;
const EVERY = 100;

/** Thousands of rollouts may fail for the same reason: the first few are reported, then every hundredth. */
export class SampledWarnings {
  readonly #counts = new Map<string, number>();

  tell(kind: string, text: string, log: { warn(text: string): void }): void {
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    if (count <= FIRST || count % EVERY === 0) log.warn(count === 1 ? text : `${text} (no. ${count})`);
  }
}
