import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { classOfStatus, FAILURE_CLASSES, failure, isInfrastructureFailure } from "./failures.ts";

const root = path.resolve(import.meta.dirname, "../..");

it("describes every class in the reference and nothing else", () => {
  const page = readFileSync(path.join(root, "docs/reference/rollout-files.md"), "utf8");
  const table = page.slice(page.indexOf("| Class |"), page.indexOf("A reply with `_ng_no_persist`"));
  const listed = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  expect(listed.sort()).toEqual(Object.keys(FAILURE_CLASSES).sort());
  const sentence = /Failures of endpoints \(([^)]*)\)/.exec(page)?.[1] ?? "";
  const named = [...sentence.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  expect(named.sort()).toEqual(Object.keys(FAILURE_CLASSES).filter(isInfrastructureFailure).sort());
});

it("retries as the table says unless the cause says otherwise", () => {
  expect(failure("connection", "m")).toEqual({ class: "connection", retryable: true, message: "m" });
  expect(failure("verifier_error", "m", { retryable: true, stage: "verify" })).toMatchObject({
    retryable: true,
    stage: "verify",
  });
  expect(isInfrastructureFailure("a class of someone else")).toBe(false);
});

it.each([
  [422, "model", "invalid_request"],
  [422, "run", "invalid_row"],
  [401, "model", "provider_auth"],
  [429, "model", "provider_rate_limit"],
  [504, "model", "timeout"],
  [500, "model", "provider_error"],
  [500, "tool", "tool_error"],
  [500, "verify", "verifier_error"],
  [500, "seed", "agent_error"],
] as const)("a %i in stage %s is %s", (status, stage, name) => {
  expect(classOfStatus(status, stage)).toBe(name);
});
