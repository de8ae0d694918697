/** Verifier cases, for the test kit. */

export type { RewardContract } from "./workloads/verifier-cases/cases.ts";
export {
  type CaseResult,
  exerciseVerifierCases,
  type VerifierCasesOptions,
} from "./workloads/verifier-cases/exercise.ts";
