import { pyRound } from "../../base/python/numbers/door.ts";

/** The statistics of a numeric quantity in a metrics file, rounded. All except `total` are floats. */
export interface NumericSummary {
  total: number;
  average: number;
  min: number;
  max: number;
  standardDeviation: number;
}

/** Running mean and squared deviation of a stream of numbers. */
export class NumericStatistic {
  private total = 0;
  private mean = 0;
  private squaredDeviation = 0;
  private min = Number.POSITIVE_INFINITY;
  private max = Number.NEGATIVE_INFINITY;

  observe(value: number): void {
    if (value < this.min) this.min = value;
    if (value > this.max) this.max = value;
    this.total++;
    const delta = value - this.mean;
    this.mean += delta / this.total;
    this.squaredDeviation += delta * (value - this.mean);
  }

  /** Adds all values of `other`. The order of operations is that of upstream, because it affects rounding. */
  merge(other: NumericStatistic): void {
    if (other.total === 0) return;
    if (this.total === 0) {
      this.total = other.total;
      this.mean = other.mean;
      this.squaredDeviation = other.squaredDeviation;
      this.min = other.min;
      this.max = other.max;
      return;
    }
    const total = this.total + other.total;
    const delta = other.mean - this.mean;
    this.mean += delta * (other.total / total);
    this.squaredDeviation =
      this.squaredDeviation + other.squaredDeviation + delta * delta * ((this.total * other.total) / total);
    this.total = total;
    if (other.min < this.min) this.min = other.min;
    if (other.max > this.max) this.max = other.max;
  }

  /** Adds one value like `merge` with a statistic of that value, which rounds differently from `observe`. */
  mergeValue(value: number): void {
    if (this.total === 0 || !Number.isFinite(value)) {
      const alone = new NumericStatistic();
      alone.observe(value);
      this.merge(alone);
      return;
    }
    const total = this.total + 1;
    const delta = value - this.mean;
    this.mean += delta * (1 / total);
    this.squaredDeviation += delta * delta * (this.total / total);
    this.total = total;
    if (value < this.min) this.min = value;
    if (value > this.max) this.max = value;
  }

  summary(): NumericSummary {
    if (this.total === 0) return { total: 0, average: 0, min: 0, max: 0, standardDeviation: 0 };
    return {
      total: this.total,
      average: roundStatistic(this.mean),
      min: roundStatistic(this.min),
      max: roundStatistic(this.max),
      standardDeviation:
        this.total > 1 ? roundStatistic(Math.sqrt(this.squaredDeviation / (this.total - 1))) : 0,
    };
  }
}

/** Rounds to two decimals if the magnitude is at least 1, otherwise to three. */
function roundStatistic(value: number): number {
  return pyRound(value, Math.abs(value) >= 1 ? 2 : 3);
}
