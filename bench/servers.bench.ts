import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { processTree, treeCpuMs, treeMemoryMb } from "../src/hosting/processes/process-tree.ts";
import {
  type FinishedRun,
  finishedGym,
  finishedProgram,
  singleToolConfig,
  whileGymRuns,
  writeRows,
} from "./gym-program.ts";
import { withModelEndpoint } from "./model-endpoint.ts";
import type { Report } from "./report.ts";

export const name = "servers";

const ROLLOUTS = 20_000;
const IN_FLIGHT = 128;
const ROUNDS = 3;
const STARTS = 5;
const IDLE_AFTER_MS = 2_000;
const IDLE_MB = 120;
/** `share`: CPU of a rollout at most, as a share of what a plain loop on the `openai` package takes in the same run. */
const FORMS = [
  { label: "co-hosted", words: [], share: 0.55, startMs: 1_000 },
  { label: "a process per server", words: ["+hosting=process"], share: 0.8, startMs: 2_500 },
];

const OPENAI_MODEL = `openai_model:
      entrypoint: app.ts
      openai_base_url: \${policy_base_url}
      openai_api_key: \${policy_api_key}
      openai_model: \${policy_model_name}`;

const words = (count: number) => "the ferry leaves the harbour at five past four ".repeat(count);
const reasoning = { id: "rs_1", type: "reasoning", summary: [{ type: "summary_text", text: words(5) }] };

/** Answers of the size providers give, with everything they echo. */
const answer = (id: string, item: object) => ({
  id,
  created_at: 1_700_000_000,
  model: "m",
  object: "response",
  status: "completed",
  output: [reasoning, item],
  parallel_tool_calls: true,
  tool_choice: "auto",
  tools: [
    {
      type: "function",
      name: "get_weather",
      description: "Tell the weather in a city.",
      parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      strict: true,
    },
  ],
  temperature: 1,
  top_p: 1,
  usage: {
    input_tokens: 90,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 30,
    output_tokens_details: { reasoning_tokens: 20 },
    total_tokens: 120,
  },
});
const answers = {
  toolCall: answer("resp_1", {
    id: "fc_1",
    type: "function_call",
    call_id: "call_1",
    name: "get_weather",
    arguments: '{"city": "Bergen"}',
    status: "completed",
  }),
  response: answer("resp_2", {
    id: "msg_1",
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: words(10), annotations: [] }],
  }),
};

/**
 * What the servers cost between a model API that answers at once and the result: whole evaluations by `openai_model` beside a plain loop on the
 * `openai` package that has the same conversations, and what it takes to start and to hold the servers. The CPU of the model API does not count.
 */
export async function run(report: Report): Promise<void> {
  const cwd = await mkdtemp(path.join(tmpdir(), "bench-servers-"));
  try {
    await writeFile(path.join(cwd, "bench.yaml"), singleToolConfig(OPENAI_MODEL));
    await writeRows(path.join(cwd, "in.jsonl"), ROLLOUTS);
    await withModelEndpoint(answers, async (origin) => {
      const env = `policy_base_url: ${origin}/0/v1\npolicy_api_key: k\npolicy_model_name: m\n`;
      await writeFile(path.join(cwd, "env.yaml"), env);
      await measureRollouts(report, cwd, `${origin}/0/v1`);
      for (const form of FORMS) await measureStart(report, cwd, form);
    });
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

type Form = (typeof FORMS)[number];

/** The arrangements take turns. The least disturbed run of each counts: other work on the machine can only add to its CPU time. */
async function measureRollouts(report: Report, cwd: string, baseUrl: string): Promise<void> {
  const loop: FinishedRun[] = [];
  const runs = FORMS.map((): FinishedRun[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    loop.push(await runOpenAiLoop(baseUrl, cwd));
    for (const [index, { words }] of FORMS.entries())
      runs[index]?.push(await finishedGym([...EVAL_RUN, ...words], cwd));
  }
  const yardstick = leastDisturbed(loop).cpuMs / ROLLOUTS;
  report.add({ label: "a rollout, loop on openai", cpuMs: yardstick, operations: ROUNDS * ROLLOUTS });
  for (const [index, { label, share: bound }] of FORMS.entries()) {
    const { cpuMs, collectingSeconds, peakMb } = leastDisturbed(runs[index] ?? []);
    const each = cpuMs / ROLLOUTS;
    const share = each / yardstick;
    report.add({ label: `a rollout, ${label}`, cpuMs: each, operations: ROUNDS * ROLLOUTS });
    report.check(
      `${ROLLOUTS} rollouts ${label}, ${IN_FLIGHT} in flight: ${each.toFixed(3)} ms CPU each, ${share.toFixed(2)} of a loop on openai ` +
        `with ${yardstick.toFixed(3)} (at most ${bound}), ${Math.round(ROLLOUTS / collectingSeconds)} a second, ${Math.round(peakMb)} MB`,
      share <= bound,
    );
  }
}

const EVAL_RUN = [
  ...["eval", "run", "--config", "bench.yaml", "-i", "in.jsonl"],
  ...["-o", "out.jsonl", "--concurrency", String(IN_FLIGHT)],
];

function runOpenAiLoop(baseUrl: string, cwd: string): Promise<FinishedRun> {
  const program = fileURLToPath(new URL("./openai-loop-process.js", import.meta.url));
  return finishedProgram(
    [process.execPath, program, baseUrl, "in.jsonl", "loop.jsonl", String(IN_FLIGHT)],
    cwd,
  );
}

function leastDisturbed(runs: readonly FinishedRun[]): FinishedRun {
  return runs.reduce((least, run) => (run.cpuMs < least.cpuMs ? run : least));
}

/** The least disturbed of a few starts counts. */
async function measureStart(report: Report, cwd: string, { label, words, startMs }: Form): Promise<void> {
  let least = Number.POSITIVE_INFINITY;
  let [processes, idleMb] = [0, 0];
  for (let start = 0; start < STARTS; start++) {
    const head = `++head_server.port=${20_000 + Math.floor(Math.random() * 9_000)}`;
    const command = ["env", "start", "--config", "bench.yaml", head, ...words];
    await whileGymRuns(command, cwd, "Press Ctrl-C to stop.", async (pid) => {
      least = Math.min(least, treeCpuMs(pid));
      if (start > 0) return;
      await new Promise((resolve) => setTimeout(resolve, IDLE_AFTER_MS));
      processes = processTree(pid).length;
      idleMb = treeMemoryMb(pid, "VmRSS");
    });
  }
  report.add({ label: `env start to ready, ${label}`, cpuMs: least, operations: STARTS });
  report.check(
    `env start ${label}: ${Math.round(least)} ms CPU until all are ready (at most ${startMs})`,
    least <= startMs,
  );
  const bound = processes === 1 ? ` (at most ${IDLE_MB})` : "";
  report.check(
    `idle ${label}: ${Math.round(idleMb)} MB in ${processes} ${processes === 1 ? "process" : "processes"}${bound}`,
    processes > 1 || idleMb <= IDLE_MB,
  );
}
