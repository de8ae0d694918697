import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { loadRolloutDriver } from "./rollout-driver.ts";

let base: string;
beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), "gym-driver-"));
  mkdirSync(path.join(base, "environments/garden"), { recursive: true });
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const write = (file: string, text: string) => writeFileSync(path.join(base, file), text);
const load = (reference: string) => loadRolloutDriver(reference, [base]);

it("loads the function that a reference names", async () => {
  write("environments/garden/drive.ts", "export const run = (keys: { a: number }) => keys.a;\n");
  const driver = await load("environments.garden.drive:run");
  expect(driver({ a: 7 }, {}, {} as never)).toBe(7);
});

it.each([
  ["drive", "must look like package.module:function, not 'drive'."],
  ["a.b:c d", "must look like"],
  ["../up:run", "must look like"],
  ["environments.garden.absent:run", "was not found: environments/garden/absent.ts under"],
  ["environments.garden.drive:other", "exports no function 'other'."],
  ["environments.garden.broken:run", "cannot be loaded"],
  ["environments.garden.snake:run", "is written in Python"],
])("rejects %s", async (reference, message) => {
  write("environments/garden/drive.ts", "export const run = () => 1;\n");
  write("environments/garden/broken.ts", 'throw new Error("no");\n');
  write("environments/garden/snake.py", "def run(): pass\n");
  await expect(load(reference)).rejects.toThrow(message);
  await expect(load(reference)).rejects.toMatchObject({ code: "ROLLOUT_DRIVER" });
});
