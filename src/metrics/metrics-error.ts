import { GymError } from "../errors.ts";

/** Rollout rows from which no metrics can be computed, or settings that make no sense for them. */
export class MetricsError extends GymError {
  constructor(code: `METRICS_${string}`, message: string) {
    super(code, message);
  }
}
