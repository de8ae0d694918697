import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { RolloutFile } from "../src/viewer/index/rollout-file.ts";
import { TextSearch } from "../src/viewer/query/text-search.ts";
import type { Report } from "./report.ts";

export const name = "viewer";

const BYTES = 1_000_000_000;

/** CPU seconds that something takes. */
async function cpuOf(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/** A gigabyte of rollouts with tool calls, more than half of them with token ids. */
async function writeRollouts(file: string): Promise<number> {
  const out = createWriteStream(file);
  const text = (length: number) =>
    'the model "calls" a tool, reads\nits output and counts '.repeat(length / 50);
  const ids = (length: number, seed: number) =>
    Array.from({ length }, (_, place) => (place * 7919 + seed) % 150_000);
  let bytes = 0;
  let rows = 0;
  for (; bytes < BYTES; rows++) {
    const hasTokens = rows % 5 < 3;
    const output = [
      { type: "function_call", name: "python", call_id: "1", arguments: JSON.stringify({ code: text(600) }) },
      { type: "function_call_output", call_id: "1", output: text(2000) },
      {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", annotations: [], text: text(4000) }],
        ...(hasTokens && { prompt_token_ids: ids(2000, rows), generation_token_ids: ids(800, rows) }),
      },
    ];
    const row = {
      responses_create_params: { input: [{ role: "user", content: text(1500) }] },
      response: { id: `resp_${rows}`, model: "m", output, usage: { input_tokens: 10, output_tokens: 20 } },
      reward: rows % 2,
      _ng_task_index: Math.floor(rows / 8),
      _ng_rollout_index: rows % 8,
      agent_ref: { name: "solver" },
    };
    const line = `${JSON.stringify(row)}\n`;
    bytes += line.length;
    if (!out.write(line)) await once(out, "drain");
  }
  out.end();
  await once(out, "finish");
  return rows;
}

/** How long a gigabyte takes until it can be looked at, and how fast it is searched. */
export async function run(report: Report): Promise<void> {
  const directory = await mkdtemp(path.join(os.tmpdir(), "bench-viewer-"));
  const name = path.join(directory, "rollouts.jsonl");
  try {
    const rows = await writeRollouts(name);
    const cold = new RolloutFile(name);
    const coldSeconds = await cpuOf(() => cold.update());
    const search = new TextSearch(cold, "nobody says this");
    const searchSeconds = await cpuOf(() => search.advance());
    await cold.close();
    const warm = new RolloutFile(name);
    const warmSeconds = await cpuOf(() => warm.update());
    await warm.close();
    const shown = (seconds: number) => `${seconds.toFixed(2)} s CPU`;
    report.check(
      `index of 1 GB, cold, at most 3 s CPU (${rows} rows): ${shown(coldSeconds)}`,
      coldSeconds <= 3,
    );
    report.check(`index of 1 GB, warm, at most 0.3 s CPU: ${shown(warmSeconds)}`, warmSeconds <= 0.3);
    report.check(
      `search of 1 GB, at least 0.7 GB/s of CPU: ${shown(searchSeconds)}`,
      searchSeconds <= 1 / 0.7,
    );
  } finally {
    await rm(directory, { recursive: true });
  }
}
