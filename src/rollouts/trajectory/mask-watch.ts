import { RolloutError } from "../errors.ts";

/** Counts masked rollouts and ends a run that would give a trainer next to nothing. */
export class MaskWatch {
  readonly #maxFraction: number | undefined;
  readonly #minSamples: number;
  readonly #reasons = new Map<string, number>();
  #total = 0;
  #masked = 0;

  constructor(options: { maxFraction: number | undefined; minSamples: number }) {
    this.#maxFraction = options.maxFraction;
    this.#minSamples = options.minSamples;
  }

  add(reason: string | undefined): void {
    this.#total++;
    if (reason === undefined) return;
    this.#masked++;
    this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + 1);
  }

  /** Throws when too many of the rollouts so far are masked. */
  check(): void {
    if (this.#maxFraction === undefined || this.#total < this.#minSamples) return;
    if (this.#masked / this.#total <= this.#maxFraction) return;
    throw new RolloutError(
      "ROLLOUT_MASK_FRACTION",
      `${this.#text()}: more than token_id_capture.max_mask_fraction (${this.#maxFraction}) allows. ` +
        "The records of masked rollouts are kept; mend the cause and resume.",
    );
  }

  /** What to report at the end; undefined when nothing was masked. */
  get summary(): string | undefined {
    return this.#masked === 0 ? undefined : `${this.#text()}.`;
  }

  #text(): string {
    const reasons = [...this.#reasons]
      .sort(([, a], [, b]) => b - a)
      .map(([reason, count]) => `${count} ${reason}`);
    return `${this.#masked} of ${this.#total} rollouts with token capture are masked (${reasons.slice(0, MAX_REASONS).join("; ")})`;
  }
}

const MAX_REASONS = 5;
