import { expect, it } from "vitest";
import { suggest, suggestMisspelt } from "./suggest.ts";

it("suggests the nearest choice", () => {
  expect(suggest("verfy", ["seed", "verify"])).toBe("verify");
  expect(suggest("colour", ["seed", "verify"])).toBeUndefined();
  expect(suggest("verfy", new Set(["verify", "verified"]))).toBe("verify");
});

it("needs more similarity where other words are valid too", () => {
  const known = ["max_output_tokens", "host", "temperature"];
  expect(suggestMisspelt("max_output_token", known)).toBe("max_output_tokens");
  expect(suggestMisspelt("max_tokens", known)).toBeUndefined();
  expect(suggest("max_tokens", known)).toBe("max_output_tokens");
});

it("compares short words only with those that begin alike", () => {
  expect(suggestMisspelt("sead", ["seed", "rate"])).toBe("seed");
  expect(suggestMisspelt("domian", ["domain"])).toBe("domain");
  expect(suggestMisspelt("cost", ["host"])).toBeUndefined();
});
