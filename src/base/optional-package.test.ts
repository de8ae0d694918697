import { expect, it } from "vitest";
import { optionalPackage } from "./optional-package.ts";

it("returns the package", async () => {
  const { countTokens } = await optionalPackage("gpt-tokenizer", "Counting", () => import("gpt-tokenizer"));
  expect(countTokens("one two")).toBe(2);
});

it("names a package that is not installed, and what needs it", async () => {
  const missing = "no-such-package-of-npm";
  await expect(optionalPackage(missing, "Counting tokens", () => import(missing))).rejects.toMatchObject({
    code: "PACKAGE_MISSING",
    message: `Counting tokens needs the npm package ${missing}. Install it where nemo-gym is installed: npm install ${missing}`,
  });
});

it("passes on other errors of the package", async () => {
  const broken = () => Promise.reject(new SyntaxError("Unexpected token"));
  await expect(optionalPackage("broken", "Counting tokens", broken)).rejects.toThrow("Unexpected token");
});
