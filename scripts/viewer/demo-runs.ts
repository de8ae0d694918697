import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { artifactPaths } from "../../src/records/files/artifact-paths.ts";
import { summarize } from "../../src/run/summarize.ts";

type Row = Record<string, unknown>;

const TASKS = 24;
const REPEATS = 4;
const AGENT = "repair_agent";

/** A deterministic pseudo-random generator. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
}

const QUESTIONS = [
  "The parser drops the last field of a CSV row when it is empty. Repair `parse_row`.",
  "`moving_average` returns one value too many. Find out why and repair it.",
  "Dates before 1970 sort behind all others. Make `sort_by_date` right.",
  "The cache never forgets anything. Limit it to 100 entries, oldest first.",
  "Unicode names break the index. Normalize them to NFC.",
  "`retry` sleeps after the last attempt. It should not.",
] as const;

const DIFF = `--- a/table/parse.py
+++ b/table/parse.py
@@ -12,7 +12,7 @@ def parse_row(line: str) -> list[str]:
     fields = []
     field = ""
-    for letter in line.rstrip(","):
+    for letter in line:
         if letter == ",":
             fields.append(field)
             field = ""
`;

const TEST_OUTPUT = `\u001b[1mtests/test_parse.py\u001b[0m \u001b[32m....\u001b[0m\u001b[31mF\u001b[0m
 10 %\r 60 %\r100 %
\u001b[31mFAILED\u001b[0m tests/test_parse.py::test_empty_last_field - AssertionError: ['a', 'b'] != ['a', 'b', '']
\u001b[33m1 failed\u001b[0m, \u001b[32m4 passed\u001b[0m in 0.31s`;

function conversation(task: number, turns: number, passes: boolean, next: () => number): Row[] {
  const output: Row[] = [];
  const ids = (count: number, from: () => number) =>
    Array.from({ length: count }, () => Math.floor(from() * 50_000));
  // Every call continues the tokens before it; in some tasks the last one does not.
  let context = ids(120, next);
  const more = random(task + 1);
  for (let turn = 0; turn < turns; turn++) {
    const isLast = turn === turns - 1;
    output.push({
      type: "reasoning",
      id: `rs_${task}_${turn}`,
      summary: [
        {
          type: "summary_text",
          text:
            turn === 0
              ? "First I look at the code and run its tests."
              : "The failing test names the place; I change it there.",
        },
      ],
    });
    if (isLast) break;
    const [name, given, printed] = (
      [
        ["shell", { command: "pytest -q tests/test_parse.py" }, TEST_OUTPUT],
        ["apply_patch", { patch: DIFF }, "patch applied"],
        [
          "python",
          { code: "print(parse_row('a,b,'))" },
          JSON.stringify({ stdout: "['a', 'b', '']\n", exit_code: 0 }),
        ],
      ] as const
    )[turn % 3] ?? ["shell", {}, ""];
    const call_id = `call_${task}_${turn}_${Math.floor(next() * 1e6)}`;
    const called = ids(12, more);
    output.push({
      type: "function_call",
      name,
      call_id,
      arguments: JSON.stringify(given),
      id: `fc_${call_id}`,
      prompt_token_ids: context,
      generation_token_ids: called,
      generation_log_probs: called.map(() => -(more() ** 4) * 5),
    });
    context = [...context, ...called, ...ids(20, more)];
    output.push({ type: "function_call_output", call_id, output: printed });
  }
  const generation = ids(40, next);
  if (task % 6 === 0) context = context.with(125, 7);
  output.push({
    type: "message",
    role: "assistant",
    status: "completed",
    id: `msg_${task}`,
    content: [
      {
        type: "output_text",
        annotations: [],
        text: passes
          ? '### Repaired\n\nThe loop cut the line with `rstrip(",")`, so an **empty last field** was lost.\n\n| input | before | now |\n| --- | --- | --- |\n| `a,b,` | 2 fields | 3 fields |\n| `a,b` | 2 fields | 2 fields |\n\n1. I removed the `rstrip`.\n2. All five tests pass.\n\n```python\nfor letter in line:\n    ...\n```'
          : "I could not find the cause. The tests still fail.",
      },
    ],
    prompt_token_ids: context,
    generation_token_ids: generation,
    generation_log_probs: generation.map(() => -(next() ** 4) * 5),
  });
  return output;
}

function rollout(task: number, repeat: number, ability: number, next: () => number, model: string): Row {
  const difficulty = (task % 6) / 6;
  const passes = next() < ability + 0.35 - difficulty;
  const turns = 2 + Math.floor(next() * 4);
  const output = conversation(task, turns, passes, next);
  const tests = 5;
  const passed = passes ? tests : Math.floor(next() * tests);
  const reward = passes ? 1 : passed >= 3 ? 0.5 : 0;
  const inputTokens = 900 + Math.floor(next() * 4000);
  const outputTokens = 180 + Math.floor(next() ** 2 * 3000);
  const start = 1_769_850_000 + task * 20 + repeat;
  const calls = Array.from({ length: turns }, (_, call) => ({
    call,
    from: start + call * 4,
    seconds: 0.8 + next() * 2.4,
  }));
  return {
    responses_create_params: {
      input: [
        { role: "system", content: "You repair programs. Use the tools; answer in Markdown." },
        { role: "user", content: QUESTIONS[task % QUESTIONS.length] },
      ],
      tools: [
        {
          type: "function",
          name: "shell",
          parameters: { type: "object", properties: { command: { type: "string" } } },
          strict: true,
        },
      ],
      parallel_tool_calls: true,
      tool_choice: "auto",
    },
    response: {
      id: `resp_${task}_${repeat}`,
      created_at: start,
      model,
      object: "response",
      output,
      parallel_tool_calls: true,
      tool_choice: "auto",
      tools: [],
      usage: {
        input_tokens: inputTokens,
        input_tokens_details: { cached_tokens: Math.floor(inputTokens / 2) },
        output_tokens: outputTokens,
        output_tokens_details: { reasoning_tokens: Math.floor(outputTokens / 3) },
        total_tokens: inputTokens + outputTokens,
        ng_cost: inputTokens * 2e-6 + outputTokens * 8e-6,
      },
    },
    reward,
    tests_passed: passed,
    tests_total: tests,
    compiles: true,
    extracted_answer: passes ? "['a', 'b', '']" : "['a', 'b']",
    expected_answer: "['a', 'b', '']",
    judge_evaluations: [
      { judge: "style_judge", prompt: "Is the change small and readable?", verdict: passes ? "yes" : "no" },
    ],
    _ng_task_index: task,
    _ng_rollout_index: repeat,
    _ng_timing: {
      started_at: new Date((start - 0.6) * 1000).toISOString(),
      seconds: turns * 4 + 1.2,
      seed: { at: 0, seconds: 0.5 },
      verify: { at: turns * 4, seconds: 1.2 },
    },
    agent_ref: { type: "responses_api_agents", name: AGENT },
    ...(task === 3 && repeat === 2 && { _ng_attempt_index: 1 }),
    ...(task === 9 && repeat === 0 && { mask_sample: true }),
    ng_trajectory: {
      schema_version: "1.0",
      task_id: String(task),
      rollout_id: `${task}-${repeat}`,
      invocations: [
        {
          kind: "agent_invocation",
          invocation_id: "root",
          status: "completed",
          duration_ms: calls.length * 4000 - 500,
          model_calls: [],
          conversation: [],
        },
      ],
      turns: [],
      model_calls: calls.map(({ call, from, seconds }) => ({
        model_call_id: `mc_${task}_${repeat}_${call}`,
        started_at: from,
        completed_at: from + seconds,
        duration_ms: seconds * 1000,
        request: { model, input: `turn ${call + 1}` },
        response: {
          model,
          usage: {
            input_tokens: Math.floor(inputTokens / turns),
            output_tokens: Math.floor(outputTokens / turns),
            ...(call === 1 && { ng_waited_ms: 300 }),
          },
        },
      })),
      tool_calls: output
        .filter(({ type }) => type === "function_call")
        .map((call, place) => ({
          kind: "tool_call",
          invocation_id: "root",
          tool_call_id: call["call_id"],
          tool_name: call["name"],
          started_at: (calls[place]?.from ?? start) + (calls[place]?.seconds ?? 0) + 0.05,
          completed_at: (calls[place]?.from ?? start) + (calls[place]?.seconds ?? 0) + 0.05 + next() * 0.9,
          duration_ms: 400,
          status: "completed",
        })),
      gaps: [],
    },
  };
}

function failure(task: number, repeat: number, name: string, attempt: number): Row {
  return {
    responses_create_params: { input: [{ role: "user", content: QUESTIONS[task % QUESTIONS.length] }] },
    _ng_task_index: task,
    _ng_rollout_index: repeat,
    agent_ref: { type: "responses_api_agents", name: AGENT },
    ...(attempt > 0 && { _ng_attempt_index: attempt }),
    _ng_failure_class: name,
    _ng_failure: {
      class: name,
      stage: name === "sandbox_timeout" ? "tool" : "model",
      retryable: true,
      message:
        name === "sandbox_timeout"
          ? "the sandbox took longer than 60 s"
          : "429 from api.example: Too many requests",
    },
    mask_sample: true,
  };
}

async function writeRun(
  file: string,
  options: { seed: number; ability: number; model: string; when: string },
): Promise<void> {
  const next = random(options.seed);
  const rows: Row[] = [];
  const failures: Row[] = [
    failure(3, 2, "rate_limit", 0),
    failure(7, 1, "sandbox_timeout", 0),
    failure(7, 1, "sandbox_timeout", 1),
    failure(14, 3, "rate_limit", 0),
  ];
  for (let task = 0; task < TASKS; task++)
    for (let repeat = 0; repeat < REPEATS; repeat++)
      if (!(task === 7 && repeat === 1) && !(task === 14 && repeat === 3))
        rows.push(rollout(task, repeat, options.ability, next, options.model));
  const inputs = Array.from({ length: TASKS * REPEATS }, (_, place) => ({
    responses_create_params: { input: QUESTIONS[Math.floor(place / REPEATS) % QUESTIONS.length] },
    task_name: `task ${Math.floor(place / REPEATS)}`,
    agent_ref: { name: AGENT },
    _ng_task_index: Math.floor(place / REPEATS),
    _ng_rollout_index: place % REPEATS,
  }));
  const lines = (all: readonly Row[]) => all.map((row) => `${JSON.stringify(row)}\n`).join("");
  const paths = artifactPaths(file);
  await mkdir(path.join(path.dirname(file), "logs"), { recursive: true });
  await writeFile(paths.output, lines(rows));
  await writeFile(paths.failures, lines(failures));
  await writeFile(paths.materializedInputs, lines(inputs));
  await writeFile(
    path.join(path.dirname(file), "logs", "repair_tools.log"),
    "12:00:01 rollout 0-0 sandbox started\n12:00:02 rollout 0-0 \u001b[33mwarning\u001b[0m: tests took 0.3 s\n12:00:03 rollout 1-0 sandbox started\n",
  );
  const manifest = {
    schema_version: 1,
    created_at: options.when,
    gym_version: "0.1.0",
    input: null,
    materialized_inputs: {
      path: paths.materializedInputs,
      bytes: 0,
      sha256: "",
      rows: inputs.length,
      tasks: TASKS,
    },
    config: {
      servers: {
        [AGENT]: {
          type: "responses_api_agents",
          implementation: "simple_agent",
          resources_server: { type: "resources_servers", name: "repair" },
        },
        policy_model: {
          type: "responses_api_models",
          implementation: "openai_model",
          openai_model: options.model,
          temperature: options.ability > 0.5 ? 0.7 : 1,
        },
      },
    },
  };
  await writeFile(paths.manifest, JSON.stringify(manifest, null, 2));
  const history = Array.from({ length: 40 }, (_, place) => [
    place * 6,
    Math.round((rows.length * (place + Math.sin(place / 3))) / 39),
    place > 36 ? 40 - place : 12 + Math.round(4 * Math.sin(place / 4)),
  ]);
  const progress = {
    updated_at: options.when,
    total: inputs.length,
    done: inputs.length,
    completed: rows.length,
    failed: 2,
    in_flight: 0,
    elapsed_seconds: 240,
    model_calls: 330,
    // Including failed attempts.
    spent: 1.05 * rows.reduce((sum, { response }) => sum + costOf(response), 0),
    history,
    failure_messages: {
      rate_limit: "429 from api.example: Too many requests",
      sandbox_timeout: "the sandbox took longer than 60 s",
    },
  };
  await writeFile(paths.progress, JSON.stringify(progress, null, 2));
  await summarize({
    rollouts: [paths.output],
    failures: [paths.failures],
    materializedInputs: [paths.materializedInputs],
    targets: paths,
    onNotice: () => {},
  });
}

function costOf(response: unknown): number {
  return (response as { usage: { ng_cost: number } }).usage.ng_cost;
}

/** Writes two runs of an imaginary agent that repairs programs: the same tasks, another model. */
export async function writeDemoRuns(directory: string): Promise<{ before: string; after: string }> {
  const before = path.join(directory, "repair", "small-model", "rollouts.jsonl");
  const after = path.join(directory, "repair", "large-model", "rollouts.jsonl");
  await writeRun(before, { seed: 7, ability: 0.35, model: "small-4b", when: "2026-01-30T10:00:00.000Z" });
  await writeRun(after, { seed: 8, ability: 0.65, model: "large-70b", when: "2026-01-31T10:00:00.000Z" });
  return { before, after };
}
