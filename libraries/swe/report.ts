import type { JsonObject } from "nemo-gym";
import { isTruthy } from "nemo-gym/python";
import type { SweInstance } from "./instance.ts";
import type { TestStatus } from "./test-log.ts";

export interface TestsStatus {
  success: string[];
  failure: string[];
}

/** The lists of a report. The last two are for tests that should fail; instances do not name such tests. */
export const TEST_LISTS = ["FAIL_TO_PASS", "PASS_TO_PASS", "FAIL_TO_FAIL", "PASS_TO_FAIL"] as const;

/** The verdict on one patch, in the format of the SWE-bench harness. */
export interface InstanceReport {
  patch_is_None: boolean;
  patch_exists: boolean;
  patch_successfully_applied: boolean;
  resolved: boolean;
  tests_status: Record<(typeof TEST_LISTS)[number], TestsStatus>;
}

const LISTS = ["FAIL_TO_PASS", "PASS_TO_PASS"] as const;

/** Compares the status of the tests with the expected status. A test that is missing in the log has failed. */
export function reportOf(
  instance: SweInstance,
  patch: { exists: boolean; applied: boolean },
  statuses: ReadonlyMap<string, TestStatus>,
): InstanceReport {
  const split = (names: readonly string[]): TestsStatus => ({
    success: names.filter((name) => statuses.get(name) === "passed"),
    failure: names.filter((name) => statuses.get(name) !== "passed"),
  });
  const tests_status = {
    FAIL_TO_PASS: split(instance.FAIL_TO_PASS),
    PASS_TO_PASS: split(instance.PASS_TO_PASS),
    FAIL_TO_FAIL: split([]),
    PASS_TO_FAIL: split([]),
  };
  const failed = LISTS.some((list) => tests_status[list].failure.length > 0);
  const listed = instance.FAIL_TO_PASS.length + instance.PASS_TO_PASS.length > 0;
  return {
    patch_is_None: !patch.exists,
    patch_exists: patch.exists,
    patch_successfully_applied: patch.applied,
    resolved: patch.applied && listed && !failed,
    tests_status,
  };
}

/** The verdict on an instance: its `resolved`, or false if no test was listed. */
export function resolvedOf(report: unknown, instanceId: string): unknown {
  const own = at(at(at(report, "eval_report"), instanceId), "tests_status");
  const lists = LISTS.flatMap((list) => [at(at(own, list), "success"), at(at(own, list), "failure")]);
  if (!lists.some((names) => Array.isArray(names) && names.length > 0)) return false;
  const resolved = at(at(at(report, "eval_report"), instanceId), "resolved");
  return resolved === undefined ? false : resolved;
}

export function rewardOf(report: unknown, instanceId: string): number {
  return isTruthy(resolvedOf(report, instanceId)) ? 1 : 0;
}

function at(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as JsonObject)[key];
}
