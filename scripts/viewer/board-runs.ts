import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";

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
