import { expect, it } from "vitest";
import { checkThresholds } from "./thresholds.ts";

it("rejects thresholds that cannot be checked", () => {
  expect(() => checkThresholds({ fail_under: 1, disable_aggregation: true })).toThrow(
    "--disable-aggregation",
  );
});
