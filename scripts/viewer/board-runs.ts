import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { seededNumbers } from "../../src/records/metrics/seeded-random.ts";

export interface BoardRunParts {
  environment?: string;
  model?: string;
  when?: string;
  /** The rewards of each task; a missing reward is a rollout that was not run. */
  rewards: readonly (readonly (number | undefined)[])[];
  cost?: number;
  /** Appended to the rollouts as it is. */
  torn?: string;
}

/** Writes the files of a run as `gym eval run` does, as far as the board and the viewer read them. */
export async function writeBoardRun(directory: string, parts: BoardRunParts): Promise<string> {
  const { environment = "mcqa", model = "model-a", when = "2026-01-01T00:00:00.000Z", rewards, cost } = parts;
  await mkdir(directory, { recursive: true });
  const agent_ref = { type: "responses_api_agents", name: `${environment}_agent` };
  const inputs: unknown[] = [];
  const rollouts: unknown[] = [];
  for (const [task, own] of rewards.entries())
    for (const [rollout, reward] of own.entries()) {
      const row = {
        responses_create_params: { input: [{ role: "user", content: `What is ${task} + 1?` }] },
        expected_answer: String(task + 1),
        agent_ref,
        _ng_task_index: task,
        _ng_rollout_index: rollout,
      };
      inputs.push(row);
      if (reward === undefined) continue;
      const text = `The answer is ${reward === 0 ? task : task + 1}.`;
      const output = [
        { type: "message", role: "assistant", content: [{ type: "output_text", text, annotations: [] }] },
      ];
      const usage = { input_tokens: 12, output_tokens: 7, total_tokens: 19, ...(cost && { ng_cost: cost }) };
      rollouts.push({ ...row, reward, response: { id: "r", model, output, usage } });
    }
  const lines = (rows: readonly unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  const manifest = {
    schema_version: 1,
    created_at: when,
    gym_version: "0.1.0",
    input: null,
    materialized_inputs: { path: "", bytes: 0, sha256: "", rows: inputs.length, tasks: rewards.length },
    config: {
      servers: {
        policy_model: { type: "responses_api_models", openai_model: model },
        [`${environment}_agent`]: { type: "responses_api_agents", resources_server: { name: environment } },
      },
    },
  };
  const file = (name: string) => path.join(directory, name);
  await writeFile(file("rollouts.jsonl"), lines(rollouts) + (parts.torn ?? ""));
  await writeFile(file("rollouts_materialized_inputs.jsonl"), lines(inputs));
  await writeFile(file("rollouts_manifest.json"), JSON.stringify(manifest));
  return file("rollouts.jsonl");
}

const MODELS = { "large-70b": 0.78, "medium-32b": 0.7, "small-8b": 0.5, "tiny-2b": 0.28 };
const SHIFTS = { math: 0, tool_use: -0.05, code: -0.15, instructions: 0.08 };
const TASKS = 40;
const REPEATS = 4;
const MONTHS = 4;

/** Writes four runs of four models in four environments; in the last month one model gets worse at code. */
export async function writeDemoBoard(directory: string): Promise<void> {
  const random = seededNumbers(36);
  for (const [environment, shift] of Object.entries(SHIFTS))
    for (const [model, skill] of Object.entries(MODELS))
      for (let month = 1; month <= MONTHS; month++) {
        const isWorse = environment === "code" && model === "small-8b" && month === MONTHS;
        const ability = skill + shift + month / 100 - (isWorse ? 0.3 : 0);
        // Tasks differ in difficulty, the same for all models.
        const chanceOf = (task: number) => ability + (((task * 37) % TASKS) / TASKS - 0.5) / 2;
        await writeBoardRun(path.join(directory, environment, model, String(month)), {
          environment,
          model,
          when: `2026-0${month}-01T00:00:00.000Z`,
          cost: skill / 20,
          rewards: Array.from({ length: TASKS }, (_, task) =>
            Array.from({ length: REPEATS }, () => (random() < chanceOf(task) ? 1 : 0)),
          ),
        });
      }
}
