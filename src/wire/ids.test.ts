import { expect, it } from "vitest";
import { countingIds, newId } from "./ids.ts";

it("creates identifiers with a prefix and 32 hexadecimal digits", () => {
  expect(newId("resp")).toMatch(/^resp_[0-9a-f]{32}$/);
  expect(newId("msg")).not.toBe(newId("msg"));
});

it("creates predictable identifiers for tests", () => {
  const next = countingIds();
  expect([next("rs"), next("fc")]).toEqual([`rs_${"1".padStart(32, "0")}`, `fc_${"2".padStart(32, "0")}`]);
});
