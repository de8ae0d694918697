import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { readResources } from "./resources-file.ts";

it.each([
  ["not JSON", /out_resources\.json' is not JSON: /],
  ["[]", /does not hold the figures of a run: it: /],
])("says what is wrong with a file of figures: %s", async (text, says) => {
  const directory = await mkdtemp(join(tmpdir(), "resources-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  await writeFile(join(directory, "out_resources.json"), text);
  await expect(readResources(join(directory, "out.jsonl"))).rejects.toThrow(says);
});
