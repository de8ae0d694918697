import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { leastDisturbed, singleToolConfig, whileGymRuns, writeRows } from "./gym-program.ts";
import { withModelEndpoint } from "./model-endpoint.ts";
import { processTree, treeCpuMs, treeMemoryMb } from "./process-tree.ts";
import type { Report } from "./report.ts";

export const name = "servers";

const ROLLOUTS = 20_000;
const IN_FLIGHT = 128;
const RUNS = 3;
const STARTS = 5;
const IDLE_AFTER_MS = 2_000;
const IDLE_MB = 150;
const FORMS = [
  { label: "co-hosted", words: [], rolloutMs: 0.8, startMs: 1_000 },
  { label: "a process per server", words: ["+hosting=process"], rolloutMs: 2.0, startMs: 2_500 },
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
 * What the servers cost between a model API that answers at once and the result: whole evaluations by `openai_model`, and
 * what it takes to start and to hold them. Every process of ours counts; the model API is not ours.
 */
export async function run(report: Report): Promise<void> {
  const cwd = await mkdtemp(path.join(tmpdir(), "bench-servers-"));
  try {
    await writeFile(path.join(cwd, "bench.yaml"), singleToolConfig(OPENAI_MODEL));
    await writeRows(path.join(cwd, "in.jsonl"), ROLLOUTS);
    await withModelEndpoint(answers, async (origin) => {
      const env = `policy_base_url: ${origin}/0/v1\npolicy_api_key: k\npolicy_model_name: m\n`;
      await writeFile(path.join(cwd, "env.yaml"), env);
      for (const form of FORMS) await measureRollouts(report, cwd, form);
      for (const form of FORMS) await measureStart(report, cwd, form);
    });
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

type Form = (typeof FORMS)[number];

async function measureRollouts(
  report: Report,
  cwd: string,
  { label, words, rolloutMs }: Form,
): Promise<void> {
  const { cpuMs, collectingSeconds, peakMb } = await leastDisturbed(
    RUNS,
    [
      ...["eval", "run", "--config", "bench.yaml", "-i", "in.jsonl"],
      ...["-o", "out.jsonl", "--concurrency", String(IN_FLIGHT), ...words],
    ],
    cwd,
  );
  const each = cpuMs / ROLLOUTS;
  report.add({ label: `a rollout, ${label}`, cpuMs: each, operations: RUNS * ROLLOUTS });
  report.check(
    `${ROLLOUTS} rollouts ${label}, ${IN_FLIGHT} in flight: ${each.toFixed(3)} ms CPU each (at most ${rolloutMs}), ` +
      `${Math.round(ROLLOUTS / collectingSeconds)} a second, ${Math.round(peakMb)} MB`,
    each <= rolloutMs,
  );
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
