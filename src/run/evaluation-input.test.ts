import { expect, it } from "vitest";
import { preprocessedDirectory } from "./evaluation-input.ts";

it("never gives made inputs the place of the output", () => {
  expect(preprocessedDirectory("res/run.v2.jsonl")).toBe("res/run.v2/preprocessed_datasets");
  expect(preprocessedDirectory("res/run")).toBe("res/run_preprocessed_datasets");
});
