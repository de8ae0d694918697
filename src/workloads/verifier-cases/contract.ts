import { determinisms, type Manifest } from "../catalog/manifest.ts";
import { VerifierFixtureError } from "../errors.ts";
import type { CaseKind, VerifierCase } from "./cases.ts";

/** What a manifest declares about the rewards of a verifier. */
export interface RewardContract {
  /** The lowest and the highest reward. */
  readonly range: readonly [low: number, high: number];
  readonly higherIsBetter: boolean;
  readonly determinism: (typeof determinisms)[number];
}

/** What holds for a verifier about which no manifest says anything. */
export const defaultContract: RewardContract = {
  range: [0, 1],
  higherIsBetter: true,
  determinism: "unknown",
};

/** Refuses contracts that make no sense. */
export function checkContract({ range, determinism }: RewardContract): void {
  const [low, high] = range;
  if (range.length !== 2 || !Number.isFinite(low) || !Number.isFinite(high) || low >= high)
    throw new VerifierFixtureError(
      `The reward range must be two finite numbers, the lower one first: [${range}].`,
    );
  if (!determinisms.includes(determinism))
    throw new VerifierFixtureError(
      `determinism must be one of ${determinisms.join(", ")}: '${determinism}'.`,
    );
}

/** The reward that a right answer earns, and the one that a wrong answer earns. */
export function endpoints({ range: [low, high], higherIsBetter }: RewardContract): {
  full_reward: number;
  zero_reward: number;
} {
  return higherIsBetter ? { full_reward: high, zero_reward: low } : { full_reward: low, zero_reward: high };
}

/** Kinds of cases that must be there and are not. */
export function missingKinds(cases: readonly VerifierCase[], { determinism }: RewardContract): CaseKind[] {
  const required: CaseKind[] = ["full_reward", "zero_reward", "malformed"];
  if (determinism === "seeded") required.push("determinism");
  return required.filter((kind) => !cases.some((found) => found.kind === kind)).sort();
}

export function contractOf({ reward, determinism }: Manifest): RewardContract {
  return { range: reward.range, higherIsBetter: reward.higher_is_better, determinism };
}
