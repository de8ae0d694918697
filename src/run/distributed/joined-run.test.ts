import { expect, it } from "vitest";
import { otherVersion } from "./joined-run.ts";

it("warns of a collector of another version", () => {
  expect(otherVersion({ run: "r1", version: "0.1.0" }, "0.1.0")).toBeUndefined();
  expect(otherVersion({ run: "r1" }, "0.1.0")).toBeUndefined();
  expect(otherVersion({ run: "r1", version: "0.1.0" }, "0.9.9")).toContain(
    "run r1 is collected by version 0.1.0, and this worker has version 0.9.9",
  );
});
