// Two runs of a shipped environment with files, compared, exported and scored again.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { compare, exportRollouts, loadRollouts, reverify, runEvaluation } from "nemo-gym/run";

const directory = await mkdtemp(path.join(tmpdir(), "gym-results-"));
const config = {
  configPaths: ["resources_servers/mcqa/configs/mcqa.yaml"],
  model: { type: "random_model" },
};
const [before, after] = [path.join(directory, "before.jsonl"), path.join(directory, "after.jsonl")];
await runEvaluation(config, { output: before, limit: 4, repeats: 2 }).result;
await runEvaluation(config, { output: after, limit: 4, repeats: 2, params: { temperature: 0 } }).result;

const { difference, wins, losses } = await compare(before, after);
console.log(`difference ${difference.value}, better on ${wins} tasks, worse on ${losses}`);

for await (const { _ng_task_index, reward } of loadRollouts(after)) console.log(_ng_task_index, reward);

const dpo = { rolloutsPath: after, outputPath: path.join(directory, "dpo.jsonl"), format: "dpo" } as const;
const { read, written } = await exportRollouts(dpo);
console.log(`${written} pairs from ${read} rollouts`);

const again = reverify(config, { rollouts: after, output: path.join(directory, "again.jsonl") });
console.log(`${(await again.result).completed} rollouts scored again`);
