import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { writeBoardRun } from "../scripts/viewer/board-runs.ts";
import { seededNumbers } from "../src/records/metrics/seeded-random.ts";
import { finishedGym } from "./gym-program.ts";
import type { Report } from "./report.ts";

const ENVIRONMENTS = 10;
const MODELS = 20;
const MONTHS = 5;
const TASKS = 50;
const REPEATS = 4;

/** A thousand runs on one board: the CPU to read them, and the size of what a browser loads to show it. */
export async function manyRuns(report: Report, directory: string): Promise<void> {
  const results = path.join(directory, "results");
  await writeRuns(results);
  const folder = path.join(directory, "site");
  const { cpuMs, peakMb } = await finishedGym(["board", results, "--to-folder", folder], directory);
  const shown = `${(cpuMs / 1000).toFixed(1)} s, ${Math.round(peakMb)} MB`;
  report.check(`board of 1,000 runs, 200,000 rollouts, within 30 s CPU: ${shown}`, cpuMs <= 30_000);
  let bytes = 0;
  for (const file of ["index.html", "data/board.js"])
    bytes += gzipSync(await readFile(path.join(folder, file))).length;
  const size = `${Math.round(bytes / 1000)} kB`;
  report.check(`page and data of this board at most 300 kB compressed: ${size}`, bytes <= 300_000);
  await rm(results, { recursive: true });
}

/** Ten environments with twenty models each, five runs of each; models differ, and some regress. */
async function writeRuns(directory: string): Promise<void> {
  const random = seededNumbers(1);
  for (let environment = 0; environment < ENVIRONMENTS; environment++)
    for (let model = 0; model < MODELS; model++)
      for (let month = 1; month <= MONTHS; month++)
        await writeBoardRun(
          path.join(directory, `environment-${environment}`, `model-${model}`, `${month}`),
          {
            environment: `environment-${environment}`,
            model: `model-${model}`,
            when: `2026-0${month}-01T00:00:00.000Z`,
            cost: 0.01,
            rewards: Array.from({ length: TASKS }, () =>
              Array.from({ length: REPEATS }, () => (random() < 0.2 + 0.03 * model ? 1 : 0)),
            ),
          },
        );
}
