import { open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { readBlocks } from "./blocks.ts";

it("bounds its buffer for a line beyond the limit, and reads the lines around it", async () => {
  const limit = 5_000_000;
  const lengths = [10, limit, limit + 1, 4 * limit, 3 * limit + 7, 20];
  const path = join(tmpdir(), `blocks-${process.pid}.jsonl`);
  onTestFinished(() => rm(path));
  await writeFile(path, lengths.map((length) => `${"x".repeat(length)}\n`).join(""));
  const handle = await open(path);
  onTestFinished(() => handle.close());
  let largest = 0;
  const found: number[] = [];
  const whole: boolean[] = [];
  for await (const { bytes, lines } of readBlocks(handle, 0, undefined, limit)) {
    largest = Math.max(largest, bytes.buffer.byteLength);
    for (const { length, from, to } of lines) {
      found.push(length);
      whole.push(to - from === length);
    }
  }
  expect(found).toEqual(lengths);
  expect(whole).toEqual([true, true, false, false, false, true]);
  expect(largest).toBeLessThanOrEqual(limit + 1);
});
