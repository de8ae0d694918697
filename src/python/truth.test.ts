import { expect, it } from "vitest";
import { PyFloat } from "./numbers/py-float.ts";
import { isTruthy } from "./truth.ts";

it("tells true from false as Python does", () => {
  expect([1, -0.5, "0", [0], { a: 0 }, true, Number.NaN, 1n, new PyFloat(2)].map(isTruthy)).not.toContain(
    false,
  );
  expect([0, -0, "", [], {}, false, null, undefined, 0n, new PyFloat(0)].map(isTruthy)).not.toContain(true);
});
