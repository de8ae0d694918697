import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { exportRollouts } from "./export/export.ts";
import { profileRun } from "./profile-files.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "same-inputs-"));
});
afterEach(() => rm(directory, { recursive: true }));

const row = (task: number, question: string, rest: object = {}) => ({
  responses_create_params: { input: [{ role: "user", content: question }] },
  ...rest,
  agent_ref: { name: "a" },
  _ng_task_index: task,
  _ng_rollout_index: 0,
});

async function file(name: string, rows: readonly object[]): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, rows.map((one) => `${JSON.stringify(one)}\n`).join(""));
  return path;
}

const rollouts = () =>
  file("run.jsonl", [
    row(0, "same", { reward: 1, response: { output: [] } }),
    // An agent may add to the prompt.
    row(1, "Think first. question 1", { reward: 0, response: { output: [] } }),
  ]);
const own = [row(0, "same", { answer: 1 }), row(1, "question 1", { answer: 2 })];

const profiled = (materializedInputsPath: string, rolloutsPath: string) =>
  profileRun({ materializedInputsPath, rolloutsPath });
const exported = (materializedInputsPath: string, rolloutsPath: string) =>
  exportRollouts({
    materializedInputsPath,
    rolloutsPath,
    outputPath: join(directory, "exported.jsonl"),
    format: "nemo-rl",
  });

for (const [name, use] of [
  ["profile", profiled],
  ["export", exported],
] as const) {
  it(`${name} rejects inputs that differ from those next to the rollouts`, async () => {
    await file("run_materialized_inputs.jsonl", own);
    const other = await file("other.jsonl", [own[0] as object, row(1, "question 1", { answer: 3 })]);
    const before = await readdir(directory).then((names) => [...names, "run.jsonl"].sort());
    await expect(use(other, await rollouts())).rejects.toMatchObject({
      code: "ROLLOUT_OTHER_INPUTS",
      message: expect.stringMatching(/other\.jsonl' does not .*run\.jsonl': task 1 differs/),
    });
    expect((await readdir(directory)).sort()).toEqual(before);
    await use(await file("copy.jsonl", own), await rollouts());
    // Repeats may be in another order.
    await use(await file("reversed.jsonl", own.toReversed()), await rollouts());
  });

  it(`${name} compares the prompts when no inputs are next to the rollouts`, async () => {
    const other = await file("other.jsonl", [own[0] as object, row(1, "another question")]);
    await expect(use(other, await rollouts())).rejects.toThrow(/run\.jsonl': task 1 differs/);
    expect((await readdir(directory)).sort()).toEqual(["other.jsonl", "run.jsonl"]);
    await use(await file("copy.jsonl", own), await rollouts());
  });
}
