import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { artifactPaths } from "../../records/files/artifact-paths.ts";
import { moveInvalidlyJudged } from "./move-judged.ts";

it("moves results with an invalid judgement to the failures once", async () => {
  const directory = await mkdtemp(join(tmpdir(), "move-judged-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const paths = artifactPaths(join(directory, "out.jsonl"));
  const row = (task: number, own = {}) => ({ reward: 0, _ng_task_index: task, _ng_rollout_index: 0, ...own });
  const bad = row(1, { invalid_judge_response: true, _ng_failure_terminal: true });
  const rows = [row(0, { invalid_judge_response: false }), bad, row(2)];
  await writeFile(paths.output, rows.map((one) => `${JSON.stringify(one)}\n`).join(""));
  const linesOf = async (path: string) =>
    (await readFile(path, "utf8"))
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as unknown);

  expect(await moveInvalidlyJudged(paths)).toBe(1);
  expect(await linesOf(paths.output)).toEqual([rows[0], rows[2]]);
  const failure = {
    ...row(1, { invalid_judge_response: true }),
    mask_sample: true,
    _ng_failure_class: "judge_invalid",
    _ng_migrated_invalid_judge_response: true,
  };
  expect(await linesOf(paths.failures)).toEqual([failure]);

  // As after a crash between the two writes.
  await writeFile(paths.output, `${JSON.stringify(bad)}\n`);
  expect(await moveInvalidlyJudged(paths)).toBe(1);
  expect(await linesOf(paths.failures)).toEqual([failure]);
  expect(await moveInvalidlyJudged(paths)).toBe(0);
});
