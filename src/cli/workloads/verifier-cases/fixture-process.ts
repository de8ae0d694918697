import type { RootOptions } from "../../../config/paths.ts";
import { runWatchedChild, type WatchedChildOptions } from "../audit/watched-child.ts";
import { VerifierFixtureError } from "../errors.ts";
import type { RewardContract } from "./cases.ts";
import type { CaseResult } from "./exercise.ts";

/** The request to the process that runs verifier cases. */
export interface FixtureRequest extends Required<RootOptions> {
  readonly configFile: string;
  /** The instance of the resources server in the config. */
  readonly instance: string;
  /** The file of cases. */
  readonly file: string;
  readonly contract: RewardContract;
  readonly updateExpected: boolean;
}

export type FixtureProcessOptions = Omit<WatchedChildOptions, "problem">;

/** Runs the cases of a configured resources server in a separate process. */
export async function exerciseInProcess(
  request: FixtureRequest,
  options: FixtureProcessOptions,
): Promise<CaseResult[]> {
  const reports = await runWatchedChild<FixtureRequest, CaseResult[]>(
    new URL("./fixture-child", import.meta.url),
    request,
    { ...options, problem: (message) => new VerifierFixtureError(message) },
  );
  return reports.flat();
}
