import { stat } from "node:fs/promises";
import path from "node:path";
import { dumps } from "../src/base/python/json/json-dumps.ts";
import { collate } from "../src/data/collate.ts";
import { agentsOf } from "../src/data/entry.ts";
import { writeOutput } from "../src/data/output-file.ts";
import { cpuMsOf, type Report } from "./report.ts";

export const name = "collate";

const ROWS = 200_000;
/** CPU seconds for all rows, and resident memory above the initial memory of the process. */
const BUDGET_CPU_S = 20;
const BUDGET_RSS_MB = 250;

/** A training file of tool-calling rows, about 1.3 kB each, through `gym dataset collate`. */
export async function run(report: Report, cwd: string): Promise<void> {
  await writeRows(path.join(cwd, "train.jsonl"));
  const megabytes = (await stat(path.join(cwd, "train.jsonl"))).size / 1e6;
  const datasets = [{ name: "train", type: "train", jsonl_fpath: "train.jsonl", license: "MIT" }];
  const { agents } = agentsOf([{ name: "bench_agent", datasets }]);
  const before = process.memoryUsage().rss;
  let peak = before;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 20);
  const cpuMs = await cpuMsOf(() =>
    collate({ mode: "train_preparation", outputDirectory: "out", agents, cwd, roots: [cwd] }),
  );
  clearInterval(watch);
  const seconds = cpuMs / 1000;
  const grown = (peak - before) / 1e6;
  report.add({ label: `${ROWS} rows, ${megabytes.toFixed(0)} MB`, cpuMs, operations: 1 });
  report.add({ label: "one row", cpuMs: cpuMs / ROWS, operations: ROWS });
  report.check(`${seconds.toFixed(1)} CPU s (at most ${BUDGET_CPU_S})`, seconds <= BUDGET_CPU_S);
  report.check(
    `peak RSS ${(peak / 1e6).toFixed(0)} MB, ${grown.toFixed(0)} MB above the start (at most ${BUDGET_RSS_MB})`,
    grown <= BUDGET_RSS_MB,
  );
}

async function writeRows(file: string): Promise<void> {
  await writeOutput(file, { atomic: false }, async (output) => {
    for (let index = 0; index < ROWS; index++) await output.write(`${dumps(row(index))}\n`);
  });
}

function row(index: number): object {
  const tool = (name: string) => ({
    type: "function",
    name,
    description: "Look a thing up in the catalogue and give its price, stock and colour.",
    parameters: {
      type: "object",
      properties: { query: { type: "string", description: "what to look for" }, limit: { type: "integer" } },
      required: ["query", "limit"],
      additionalProperties: false,
    },
    strict: true,
  });
  return {
    responses_create_params: {
      input: [
        {
          role: "system",
          content: "You help customers of a shop. Use the tools, then answer in one sentence.",
        },
        {
          role: "user",
          content: `Order ${index}: what does a “red” hat cost, and how many are left? ${"x ".repeat(60)}`,
        },
      ],
      tools: [tool("lookup"), tool("stock")],
      temperature: 0.7,
      parallel_tool_calls: false,
    },
    expected_answer: `It costs ${index % 97} coins.`,
    difficulty: index % 5,
    weight: (index % 1000) / 7,
    tags: ["shop", index % 2 === 0 ? "even" : "odd"],
  };
}
