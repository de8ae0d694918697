import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { writeDemoRuns } from "../../../scripts/viewer/demo-runs.ts";
import { exportRollouts } from "../results/export/export.ts";
import { EXPORT_FORMATS } from "../results/export/export-filters.ts";
import { findRuns } from "./find-runs.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "gym-find-"));
});
afterEach(() => rm(directory, { recursive: true }));

it("does not take exports, labels and foreign files for runs", async () => {
  await writeDemoRuns(path.join(directory, "demo"));
  const rolloutsPath = path.join(directory, "demo/repair/large-model/rollouts.jsonl");
  const mixed = path.join(directory, "mixed");
  await mkdir(mixed);
  await copyFile(rolloutsPath, path.join(mixed, "mine.jsonl"));
  const exported = EXPORT_FORMATS.filter((format) => !["atif", "csv", "parquet"].includes(format));
  for (const format of exported)
    await exportRollouts({ rolloutsPath, outputPath: path.join(mixed, `${format}.jsonl`), format });
  for (const format of ["trl", "verl", "nemo-rl"] as const)
    await exportRollouts({
      rolloutsPath,
      outputPath: path.join(mixed, `${format}-tokens.jsonl`),
      format,
      tokens: true,
    });
  await writeFile(path.join(mixed, "corpus.jsonl"), '{"text": "Once upon a time"}\n');
  await writeFile(path.join(mixed, "mine_labels.jsonl"), '{"_ng_task_index": 0, "label": "right"}\n');
  // A run whose first row is half written, and a file that is no JSON, are shown with what is wrong.
  await writeFile(path.join(mixed, "half.jsonl"), '{"reward": 1, "respo');
  await writeFile(path.join(mixed, "broken.jsonl"), "not a row\n");
  const { runs, others } = await findRuns([mixed]);
  expect(runs.map(({ id }) => id).sort()).toEqual(["broken", "half", "mine"]);
  expect(others.map((file) => path.basename(file)).sort()).toEqual(
    ["corpus", ...exported, "trl-tokens", "verl-tokens", "nemo-rl-tokens"]
      .map((name) => `${name}.jsonl`)
      .sort(),
  );
});
