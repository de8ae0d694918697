import { expect, it } from "vitest";
import { checkThresholds } from "./thresholds.ts";

it("refuses thresholds that cannot be checked", () => {
  expect(() => checkThresholds({ min_coverage: 80 })).toThrow("must be a share from 0 to 1");
  expect(() => checkThresholds({ fail_under: 1, disable_aggregation: true })).toThrow(
    "--disable-aggregation",
  );
});
