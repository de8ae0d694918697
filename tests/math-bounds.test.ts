import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "..");

it("no mathematical answer blocks the event loop or exceeds its limit", { timeout: 600_000 }, async () => {
  const script = path.join(root, "tests/support/math-bounds-process.ts");
  const { stdout } = await promisify(execFile)(process.execPath, ["--import", "jiti/register", script], {
    cwd: root,
  });
  const { compared, tooLong } = JSON.parse(stdout) as { compared: number; tooLong: unknown[] };
  expect(compared).toBeGreaterThan(500);
  expect(tooLong).toEqual([]);
});
