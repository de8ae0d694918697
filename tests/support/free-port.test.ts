import { expect, it } from "vitest";
import { freePort } from "./free-port.ts";

it("returns no port twice, and none from the range of a run", async () => {
  const ports: number[] = [];
  for (let count = 0; count < 300; count++) ports.push(await freePort());
  expect(new Set(ports).size).toBe(300);
  expect(Math.min(...ports)).toBeGreaterThan(20_000);
  expect(Math.max(...ports)).toBeLessThan(32_768);
});
