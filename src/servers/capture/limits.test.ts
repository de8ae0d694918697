import { expect, it } from "vitest";
import { withinLimit } from "./limits.ts";

it("rejects work that hangs, and settles like other work", async () => {
  await expect(withinLimit(new Promise(() => {}), 10)).rejects.toThrow("not written within 0.01 s");
  expect(await withinLimit(Promise.resolve(5), 10)).toBe(5);
  await expect(withinLimit(Promise.reject(new Error("full")), 10)).rejects.toThrow("full");
});
