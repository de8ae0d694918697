import { writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { processTree } from "../src/servers/hosting/processes/process-tree.ts";
import {
  type FinishedRun,
  finishedGym,
  finishedProgram,
  singleToolConfig,
  whileGymRuns,
  writeRows,
} from "./gym-program.ts";
import { withModelEndpoint } from "./model-endpoint.ts";
import { treeCpuMs, treeMemoryMb } from "./process-usage.ts";
import type { Report } from "./report.ts";

export const name = "servers";

const ROLLOUTS = 20_000;
const IN_FLIGHT = 128;
const ROUNDS = 3;
const FEW_ROLLOUTS = 100;
const MANY = "many.jsonl";
const FEW = "few.jsonl";
const STARTS = 5;
const IDLE_AFTER_MS = 2_000;
const IDLE_MB = 120;
/** `share`: maximum CPU of a rollout relative to a plain loop on the `openai` package in the same run. */
const FORMS = [
  { label: "co-hosted", args: [], share: 0.55, startMs: 1_000 },
  { label: "a process per server", args: ["+hosting=process"], share: 0.8, startMs: 2_500 },
];

const OPENAI_MODEL = `openai_model:
      entrypoint: app.ts
      openai_base_url: \${policy_base_url}
      openai_api_key: \${policy_api_key}
      openai_model: \${policy_model_name}`;

const words = (count: number) => "the ferry leaves the harbour at five past four ".repeat(count);
const reasoning = { id: "rs_1", type: "reasoning", summary: [{ type: "summary_text", text: words(5) }] };

/** Responses of a realistic size, with all echoed fields. */
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
 * The cost of the servers between a model API that responds at once and the result: evaluations with `openai_model` and a plain loop on the
 * `openai` package with the same conversations, and the cost to start and to keep the servers. The CPU of the model API does not count.
 */
export async function run(report: Report, cwd: string): Promise<void> {
  await writeFile(path.join(cwd, "bench.yaml"), singleToolConfig(OPENAI_MODEL));
  await writeRows(path.join(cwd, MANY), ROLLOUTS);
  await writeRows(path.join(cwd, FEW), FEW_ROLLOUTS);
  await withModelEndpoint(answers, async (origin) => {
    const env = `policy_base_url: ${origin}/0/v1\npolicy_api_key: k\npolicy_model_name: m\n`;
    await writeFile(path.join(cwd, "env.yaml"), env);
    await measureRollouts(report, cwd, `${origin}/0/v1`);
    for (const form of FORMS) await measureStart(report, cwd, form);
  });
}

type Form = (typeof FORMS)[number];

/**
 * The arrangements alternate. More processes cost more to start, so the cost of a rollout is the difference between a run of many
 * rollouts and one of few.
 */
async function measureRollouts(report: Report, cwd: string, baseUrl: string): Promise<void> {
  const loop = new Measured((input) => runOpenAiLoop(baseUrl, input, cwd));
  const forms = FORMS.map(({ args }) => new Measured((input) => runEvaluation(input, args, cwd)));
  for (let round = 0; round < ROUNDS; round++) for (const measured of [loop, ...forms]) await measured.run();
  const yardstick = loop.cpuMs;
  report.add({ label: "a rollout, loop on openai", cpuMs: yardstick, operations: ROUNDS * ROLLOUTS });
  for (const [index, { label, share: bound }] of FORMS.entries()) {
    const measured = forms[index] ?? loop;
    const { collectingSeconds, peakMb } = measured.many;
    const share = measured.cpuMs / yardstick;
    report.add({ label: `a rollout, ${label}`, cpuMs: measured.cpuMs, operations: ROUNDS * ROLLOUTS });
    report.check(
      `${ROLLOUTS} rollouts ${label}, ${IN_FLIGHT} in flight: ${measured.cpuMs.toFixed(3)} ms CPU each, ${share.toFixed(2)} of a loop on openai ` +
        `with ${yardstick.toFixed(3)} (at most ${bound}), ${Math.round(ROLLOUTS / collectingSeconds)} a second, ${Math.round(peakMb)} MB`,
      share <= bound,
    );
  }
}

/** Runs of many and of few rollouts. The minimum of each counts: other work on the machine can only add to their CPU time. */
class Measured {
  readonly #start: (input: string) => Promise<FinishedRun>;
  readonly #many: FinishedRun[] = [];
  readonly #few: FinishedRun[] = [];

  constructor(start: (input: string) => Promise<FinishedRun>) {
    this.#start = start;
  }

  async run(): Promise<void> {
    this.#many.push(await this.#start(MANY));
    this.#few.push(await this.#start(FEW));
  }

  get many(): FinishedRun {
    return leastDisturbed(this.#many);
  }

  /** The cost of one rollout. */
  get cpuMs(): number {
    return (this.many.cpuMs - leastDisturbed(this.#few).cpuMs) / (ROLLOUTS - FEW_ROLLOUTS);
  }
}

function runEvaluation(input: string, args: readonly string[], cwd: string): Promise<FinishedRun> {
  const files = ["--config", "bench.yaml", "-i", input, "-o", "out.jsonl"];
  return finishedGym(["eval", "run", ...files, "--concurrency", String(IN_FLIGHT), ...args], cwd);
}

function runOpenAiLoop(baseUrl: string, input: string, cwd: string): Promise<FinishedRun> {
  const program = fileURLToPath(new URL("./openai-loop-process.js", import.meta.url));
  return finishedProgram([process.execPath, program, baseUrl, input, "loop.jsonl", String(IN_FLIGHT)], cwd);
}

function leastDisturbed(runs: readonly FinishedRun[]): FinishedRun {
  return runs.reduce((least, run) => (run.cpuMs < least.cpuMs ? run : least));
}

/** The minimum of a few starts counts. */
async function measureStart(report: Report, cwd: string, { label, args, startMs }: Form): Promise<void> {
  let least = Number.POSITIVE_INFINITY;
  let [processes, idleMb] = [0, 0];
  for (let start = 0; start < STARTS; start++) {
    const head = `++head_server.port=${20_000 + Math.floor(Math.random() * 9_000)}`;
    const command = ["env", "start", "--config", "bench.yaml", head, ...args];
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
