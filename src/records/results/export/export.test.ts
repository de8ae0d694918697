import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Row } from "../../files/jsonl-rows.ts";
import { type ExportOptions, exportRollouts } from "./export.ts";
import type { ExportFilters, ExportFormat } from "./export-filters.ts";
import { verifyTokens } from "./verify-tokens.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "export-"));
});
afterEach(() => rm(directory, { recursive: true }));

const said = (text: string): Row => ({
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text }],
});

function rollout(task: number, index: number, reward: unknown, rest: Row = {}): Row {
  return {
    responses_create_params: { input: `question ${task}` },
    response: { output: [said(`answer ${task}.${index}`)], usage: { input_tokens: 3, output_tokens: index } },
    reward,
    agent_ref: { name: "solver" },
    _ng_task_index: task,
    _ng_rollout_index: index,
    ...rest,
  };
}

async function exported(rows: (Row | string)[], format: ExportFormat, options: Partial<ExportOptions> = {}) {
  const rolloutsPath = join(directory, "out.jsonl");
  const outputPath = join(directory, `exported.${format}`);
  await writeFile(
    rolloutsPath,
    rows.map((row) => `${typeof row === "string" ? row : JSON.stringify(row)}\n`).join(""),
  );
  const report = await exportRollouts({ rolloutsPath, outputPath, format, ...options });
  const text = await readFile(outputPath, "utf8");
  const records =
    format === "csv" || format === "parquet"
      ? []
      : text
          .split("\n")
          .filter(Boolean)
          .map((line) => JSON.parse(line) as Row);
  return { report, text, records, outputPath };
}

const withTools = rollout(0, 0, 1, {
  responses_create_params: {
    input: [
      { role: "system", content: "Be brief." },
      { role: "user", content: [{ type: "input_text", text: "6*7?" }] },
    ],
    tools: [{ type: "function", name: "multiply", parameters: { type: "object" }, strict: true }],
    parallel_tool_calls: false,
  },
  response: {
    output: [
      { type: "reasoning", id: "r", summary: [{ type: "summary_text", text: "use the tool" }] },
      { type: "function_call", call_id: "c1", name: "multiply", arguments: '{"a": 6}' },
      { type: "function_call_output", call_id: "c1", output: "42" },
      said("42"),
    ],
  },
});

/** A rollout of two calls; with `drift` the second prompt differs from the first call's tokens. */
function tokenRollout(task: number, index: number, drift = false): Row {
  const output = [
    {
      type: "function_call",
      call_id: "c1",
      name: "add",
      arguments: "{}",
      prompt_token_ids: [1, 2],
      generation_token_ids: [3, 4],
      generation_log_probs: [0, -0.5],
    },
    { type: "function_call_output", call_id: "c1", output: "5" },
    {
      ...said("five"),
      prompt_token_ids: drift ? [1, 9, 3, 4, 5] : [1, 2, 3, 4, 5],
      generation_token_ids: [6],
      generation_log_probs: [-1],
    },
  ];
  return rollout(task, index, 1, { response: { output } });
}

describe("exports of token ids", () => {
  it.each(["trl", "verl", "nemo-rl", "skyrl", "prime-rl"] as const)(
    "equal those of the rollouts: %s",
    async (format) => {
      const rows = [tokenRollout(0, 0), tokenRollout(0, 1, true), tokenRollout(1, 0)];
      const { records, report, text } = await exported(rows, format, { tokens: true, verifyTokens: true });
      expect(
        records.map((record) => [record["task_index"], record["rollout_index"], record["sequence_index"]]),
      ).toEqual([
        [0, 0, 0],
        [0, 1, 0],
        [0, 1, 1],
        [1, 0, 0],
      ]);
      expect(report).toMatchObject({ written: 4, invalid: 0, forkedRollouts: 1 });
      expect(report.verifiedTokens).toEqual({ sequences: 4, tokens: 6 + 4 + 6 + 6, trained: 3 + 2 + 1 + 3 });
      expect(text).toMatch(/"reward(s|_score)?":1\.0/);
      expect(text).toContain("0.0,-0.5");
    },
  );

  it.each(["art", "calls"] as const)("equal those of each call: %s", async (format) => {
    const rows = [tokenRollout(0, 0), tokenRollout(0, 1, true), tokenRollout(1, 0)];
    const { report } = await exported(rows, format, { verifyTokens: true });
    expect(report.verifiedTokens).toEqual({ sequences: 6, tokens: 3 * 4 + 3 * 6, trained: 9 });
    await expect(exported([rollout(0, 0, 1)], format, { verifyTokens: true })).rejects.toThrow(
      "no record carries token ids",
    );
  });

  it("report why no rollout was exported, also with verification", async () => {
    const options = { tokens: true, verifyTokens: true, tokenDrift: "strict" } as const;
    await expect(exported([tokenRollout(0, 0, true)], "verl", options)).rejects.toThrow(
      /no record was written to verify\. Line 1: call 2: its prompt departs from the tokens before it/,
    );
  });

  it.each(["trl", "art", "calls"] as const)(
    "fail the verification if they differ from the rollouts: %s",
    async (format) => {
      const rows = [tokenRollout(0, 0), tokenRollout(0, 1)];
      const { outputPath } = await exported(rows, format, format === "trl" ? { tokens: true } : {});
      const verify = (changed: (item: Row) => void) => {
        const other = structuredClone(rows[1]) as Row;
        changed(((other["response"] as Row)["output"] as Row[])[2] ?? {});
        const rolloutOf = (_task: number, index: number) => (index === 0 ? rows[0] : other);
        return verifyTokens({ path: outputPath, format, drift: "fork", rolloutOf });
      };
      await verify(() => undefined);
      for (const changed of [
        (item: Row) => Object.assign(item, { prompt_token_ids: [1, 2, 3, 4, 7] }),
        (item: Row) => Object.assign(item, { generation_token_ids: [7] }),
        (item: Row) => Object.assign(item, { generation_log_probs: [-2] }),
      ])
        await expect(verify(changed)).rejects.toThrow("the tokens differ from those of rollout 0:1");
    },
  );

  it("include only complete groups on request", async () => {
    const keys = [
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
      [2, 0],
      [2, 1],
    ] as const;
    await writeFile(
      join(directory, "out_materialized_inputs.jsonl"),
      keys.map(([task, index]) => `{"_ng_task_index":${task},"_ng_rollout_index":${index}}\n`).join(""),
    );
    // Task 1 lacks a repeat, and task 2 has a masked one.
    const rows = [
      tokenRollout(0, 0),
      tokenRollout(0, 1),
      tokenRollout(1, 0),
      tokenRollout(2, 0),
      { ...tokenRollout(2, 1), mask_sample: true },
    ];
    const { records, report } = await exported(rows, "skyrl", { filters: { completeGroups: true } });
    expect(records.map((record) => record["task_index"])).toEqual([0, 0]);
    expect(report.filtered).toMatchObject({ masked: 1, incomplete_group: 2 });
    expect((await exported(rows, "skyrl")).report.partialGroups).toBe(2);
    expect((await exported(rows, "sft")).report).not.toHaveProperty("partialGroups");
    await rm(join(directory, "out_materialized_inputs.jsonl"));
    expect((await exported(rows, "skyrl")).report).not.toHaveProperty("partialGroups");
    await expect(exported(rows, "skyrl", { filters: { completeGroups: true } })).rejects.toThrow(
      "out_materialized_inputs.jsonl' does not exist",
    );
  });

  it("are truncated or rejected where tokens drift", async () => {
    const rows = [tokenRollout(0, 0, true), tokenRollout(1, 0)];
    const cut = await exported(rows, "skyrl", { tokenDrift: "truncate" });
    expect(cut.records[0]).toMatchObject({ response_ids: [3, 4], loss_masks: [1, 1] });
    const strict = await exported(rows, "skyrl", { tokenDrift: "strict" });
    expect(strict.records).toHaveLength(1);
    expect(strict.report.invalidRows[0]?.problem).toContain("call 2: its prompt departs");
  });

  it("require token ids and a format that supports them", async () => {
    const { report } = await exported([rollout(0, 0, 1)], "skyrl");
    expect(report.invalidRows[0]?.problem).toContain("no output item carries token ids");
    await expect(exported([tokenRollout(0, 0)], "sft", { tokens: true })).rejects.toThrow(
      "does not support token ids",
    );
    for (const format of ["sft", "trl", "csv"] as const)
      await expect(exported([tokenRollout(0, 0)], format, { verifyTokens: true })).rejects.toThrow(
        `An export as '${format}' has no token ids to verify. trl, verl and nemo-rl have them with --tokens;`,
      );
    expect((await readdir(directory)).filter((name) => /\.(?:sft|trl|csv)$/.test(name))).toEqual([]);
  });

  it("contain choices with tokens for ART", async () => {
    const { records } = await exported([tokenRollout(0, 0)], "art");
    const [prompt, call, result, answer] = (records[0]?.["messages_and_choices"] ?? []) as Row[];
    expect([prompt?.["role"], result?.["role"]]).toEqual(["user", "tool"]);
    expect(call).toMatchObject({
      finish_reason: "tool_calls",
      prompt_token_ids: [1, 2],
      token_ids: [3, 4],
      logprobs: {
        content: [
          { token: "token_id:3", logprob: 0 },
          { token: "token_id:4", logprob: -0.5 },
        ],
      },
      message: { role: "assistant" },
    });
    expect(call?.["message"]).not.toHaveProperty("generation_token_ids");
    expect(answer).toMatchObject({ finish_reason: "stop", message: { content: "five" } });
    expect(records[0]).toMatchObject({
      reward: 1,
      metadata: { task_index: 0, rollout_index: 0, agent: "solver" },
    });
  });
});

describe("exports of model calls", () => {
  it("contain one record per call from the output", async () => {
    const usage = { input_tokens: 9, output_tokens: 3, ng_policy_version_start: 4, ng_policy_version_end: 5 };
    const row = tokenRollout(0, 0, true);
    const { output } = row["response"] as { output: Row[] };
    const { records, text } = await exported([{ ...row, response: { model: "m", output, usage } }], "calls");
    expect(records).toEqual([
      {
        task_index: 0,
        rollout_index: 0,
        agent: "solver",
        call_index: 0,
        model_call_id: null,
        model: "m",
        finish_reason: null,
        started_at: null,
        completed_at: null,
        policy_version_start: null,
        policy_version_end: null,
        usage: { input_tokens: null, output_tokens: null },
        boundary: null,
        prompt_token_ids: [1, 2],
        generation_token_ids: [3, 4],
        generation_log_probs: [0, -0.5],
        reward: 1,
      },
      expect.objectContaining({
        call_index: 1,
        boundary: "fork",
        prompt_token_ids: [1, 9, 3, 4, 5],
        generation_token_ids: [6],
      }),
    ]);
    expect(text).toContain('"generation_log_probs":[0.0,-0.5]');
    const [sequence] = (await exported([{ ...row, response: { output, usage } }], "skyrl")).records;
    expect(sequence).toMatchObject({ policy_version_start: 4, policy_version_end: 5 });
  });

  it("contain model, versions, times, usage and finish reason of recorded calls", async () => {
    const row = tokenRollout(0, 0);
    const { output } = row["response"] as { output: Row[] };
    const call = (id: string, items: Row[], startedAt: number, version: number) => ({
      model_call_id: id,
      started_at: startedAt,
      completed_at: startedAt + 1,
      response: {
        model: "policy",
        output: items,
        usage: {
          input_tokens: 5,
          output_tokens: 1,
          ng_policy_version_start: version,
          ng_policy_version_end: version,
        },
      },
      response_metadata: { finish_reason: null, response_status: "completed" },
    });
    const ng_trajectory = {
      schema_version: "1.0",
      turns: [{ turn_no: 1, model_calls: [{ model_call_id: "a" }, { model_call_id: "b" }] }],
      model_calls: [
        call("b", output.slice(2), 20, 8),
        call("a", output.slice(0, 1), 10, 7),
        call("judge", [], 30, 0),
      ],
    };
    const { records } = await exported([{ ...row, ng_trajectory }], "calls");
    expect(records).toMatchObject([
      {
        model_call_id: "a",
        model: "policy",
        policy_version_start: 7,
        policy_version_end: 7,
        finish_reason: "completed",
        usage: { input_tokens: 5, output_tokens: 1 },
        started_at: 10,
        completed_at: 11,
        boundary: null,
        generation_token_ids: [3, 4],
      },
      { model_call_id: "b", policy_version_end: 8, boundary: "extend", prompt_token_ids: [1, 2, 3, 4, 5] },
    ]);
    expect(records).toHaveLength(2);
  });
});

describe("exportRollouts", () => {
  it("writes conversations for supervised training", async () => {
    const { records, report } = await exported([withTools], "sft");
    expect(records).toEqual([
      {
        messages: [
          { role: "system", content: "Be brief." },
          { role: "user", content: "6*7?" },
          {
            role: "assistant",
            content: "<think>use the tool</think>",
            tool_calls: [
              { id: "c1", type: "function", function: { name: "multiply", arguments: '{"a": 6}' } },
            ],
          },
          { role: "tool", content: "42", tool_call_id: "c1" },
          { role: "assistant", content: "42" },
        ],
        tools: [{ type: "function", function: { name: "multiply", parameters: { type: "object" } } }],
        reward: 1,
        task_index: 0,
        rollout_index: 0,
        agent: "solver",
      },
    ]);
    expect(report).toMatchObject({ read: 1, written: 1, invalid: 0 });
  });

  it("drops reasoning on request", async () => {
    const { text } = await exported([withTools], "sft", { reasoning: "drop" });
    expect(text).not.toContain("use the tool");
  });

  it("writes the fine-tuning format without additional fields", async () => {
    const { records } = await exported([withTools], "chat");
    expect(Object.keys(records[0] ?? {})).toEqual(["messages", "tools", "parallel_tool_calls"]);
  });

  it("writes prompts and completions with labels for TRL", async () => {
    const { records } = await exported([withTools, rollout(1, 0, 0.4)], "trl");
    expect(records[0]).toMatchObject({
      prompt: [{ role: "system" }, { role: "user" }],
      completion: [
        { tool_calls: [{ function: { arguments: { a: 6 } } }] },
        { role: "tool" },
        { role: "assistant" },
      ],
      label: true,
    });
    expect(records[1]).toMatchObject({ label: false, reward: 0.4, task_index: 1 });
  });

  it("pairs the best with the worst rollout, or all rollouts", async () => {
    const rows = [
      rollout(0, 0, 0.2),
      rollout(0, 1, 1),
      rollout(0, 2, 0.5),
      rollout(1, 0, 1),
      rollout(1, 1, 1),
    ];
    const best = await exported(rows, "dpo");
    expect(best.records).toEqual([
      {
        prompt: [{ role: "user", content: "question 0" }],
        chosen: [{ role: "assistant", content: "answer 0.1" }],
        rejected: [{ role: "assistant", content: "answer 0.0" }],
        score_chosen: 1,
        score_rejected: 0.2,
        task_index: 0,
        chosen_rollout_index: 1,
        rejected_rollout_index: 0,
        agent: "solver",
      },
    ]);
    expect(best.report.tasksWithoutPair).toBe(1);
    const all = await exported(rows, "dpo", { filters: { pairs: "all", minMargin: 0.4 } });
    expect(all.records.map((pair) => [pair["chosen_rollout_index"], pair["rejected_rollout_index"]])).toEqual(
      [
        [1, 0],
        [1, 2],
      ],
    );
    const capped = await exported(rows, "dpo", { filters: { pairs: "all", maxPairsPerTask: 1 } });
    expect(capped.records).toHaveLength(1);
  });

  it("refuses to pair rollouts with different prompts", async () => {
    const other = rollout(0, 1, 0, { responses_create_params: { input: "something else" } });
    const { report } = await exported([rollout(0, 0, 1), other], "dpo");
    expect(report).toMatchObject({
      written: 0,
      invalid: 1,
      invalidRows: [{ line: 1, problem: expect.stringMatching(/different prompts/) }],
    });
  });

  it.each<[ExportFilters, string[]]>([
    [{ rewardMin: 0.5 }, ["0:1", "1:0", "1:1"]],
    [{ rewardMax: 0.5 }, ["0:0", "0:2"]],
    [{ passRateMin: 0.1, passRateMax: 0.9 }, ["0:0", "0:1", "0:2"]],
    [{ bestOf: 1 }, ["0:1", "1:0"]],
    [{ includeMasked: true, rewardMin: 1 }, ["0:1", "1:0", "1:1", "2:0"]],
    [{ passThreshold: 0.2, passRateMin: 1 }, ["1:0", "1:1"]],
  ])("filters by %j", async (filters, kept) => {
    const rows = [
      rollout(1, 0, 1),
      rollout(0, 2, 0.2),
      rollout(0, 1, 1),
      rollout(0, 0, 0),
      rollout(1, 1, true),
      rollout(2, 0, 1, { mask_sample: true }),
    ];
    const { records, report } = await exported(rows, "sft", { filters });
    expect(records.map((record) => `${record["task_index"]}:${record["rollout_index"]}`)).toEqual(kept);
    const { masked, pass_rate: passRate, reward, best_of: bestOf } = report.filtered;
    expect(report.written + masked + passRate + reward + bestOf).toBe(6);
  });

  it.each<[ExportFilters]>([
    [{ rewardMin: 1, rewardMax: 0 }],
    [{ passRateMin: -1 }],
    [{ passRateMin: 1, passRateMax: 0.5 }],
    [{ bestOf: 0 }],
    [{ minMargin: -1 }],
    [{ maxPairsPerTask: 1.5 }],
  ])("rejects the filters %j", async (filters) => {
    await expect(exported([], "sft", { filters })).rejects.toMatchObject({ code: "ROLLOUT_EXPORT" });
  });

  it("reports every row that cannot be exported, with its line", async () => {
    const { report, records } = await exported(
      [
        rollout(0, 0, 1),
        "{broken",
        "",
        '{"reward": 1}',
        rollout(1, 0, null),
        rollout(0, 0, 1),
        rollout(2, 0, 1, { response: {} }),
        rollout(3, 0, 1, { response: { output: [] } }),
        rollout(4, 0, 1, { response: { output: [{ type: "web_search_call" }] } }),
        rollout(5, 0, 1, { responses_create_params: {} }),
        rollout(6, 0, 0, { _ng_failure_class: "timeout" }),
      ],
      "sft",
    );
    expect(records).toHaveLength(1);
    expect(report).toMatchObject({ read: 11, written: 1, invalid: 10 });
    expect(report.invalidRows.map(({ line, problem }) => `${line} ${problem}`)).toEqual([
      expect.stringMatching(/^2 the line is not JSON/),
      expect.stringMatching(/^3 the line is blank/),
      expect.stringMatching(/^4 the row lacks/),
      expect.stringMatching(/^5 .*no numeric 'reward'/),
      expect.stringMatching(/^6 rollout 0:0 occurs twice/),
      expect.stringMatching(/^11 the rollout failed \(timeout\)/),
      expect.stringMatching(/^7 'response.output' is not a list/),
      expect.stringMatching(/^8 'response.output' is empty/),
      expect.stringMatching(/^9 .*web_search_call/),
      expect.stringMatching(/^10 'responses_create_params.input'/),
    ]);
  });

  it("writes tasks for veRL and NeMo RL from the materialized inputs", async () => {
    const input: Row = { ...rollout(0, 0, 0), expected_answer: "42", level: 1, skills_ref: {} };
    delete input["response"];
    delete input["reward"];
    await writeFile(join(directory, "out_materialized_inputs.jsonl"), `${JSON.stringify(input)}\n`);
    const rows = [rollout(0, 0, 1, { extracted: "42" }), rollout(0, 1, 0), rollout(1, 0, 0)];
    const verl = await exported(rows, "verl");
    expect(verl.records[0]).toEqual({
      data_source: "solver",
      prompt: [{ role: "user", content: "question 0" }],
      ability: "solver",
      reward_model: { style: "rule", ground_truth: "42" },
      extra_info: {
        index: 0,
        pass_rate: 0.5,
        avg_reward: 0.5,
        num_rollouts: 2,
        row: '{"expected_answer":"42","level":1}',
      },
    });
    expect(verl.records).toHaveLength(2);
    const nemo = await exported(rows, "nemo-rl");
    expect(nemo.records[0]).toEqual({
      responses_create_params: { input: "question 0" },
      expected_answer: "42",
      level: 1,
      agent_ref: { type: "responses_api_agents", name: "solver" },
      avg_reward: 0.5,
      pass_rate: 0.5,
      total_samples: 2,
    });
    await expect(exported(rows, "verl", { materializedInputsPath: join(directory, "none") })).rejects.toThrow(
      /does not exist/,
    );
  });

  it("writes flat tables as CSV", async () => {
    const rows = [
      rollout(0, 0, 1, { note: 'a "b",\nc', agent: "x", mixed: 1 }),
      rollout(0, 1, 0.5, { ok: true, mixed: "m", tags: [1] }),
    ];
    const { text } = await exported(rows, "csv");
    expect(text).toBe(
      "task_index,rollout_index,agent,reward,note,row.agent,mixed,ok,usage.input_tokens,usage.output_tokens,output_text\n" +
        '0,0,solver,1.0,"a ""b"",\nc",x,1,,3,0,answer 0.0\n' +
        "0,1,solver,0.5,,,m,true,3,1,answer 0.1\n",
    );
  });

  it("writes Parquet that other readers accept", async () => {
    const rows = Array.from({ length: 6000 }, (_, index) =>
      rollout(index, 0, index % 2, { ok: index % 3 === 0, score: index / 4, count: index }),
    );
    const { outputPath, report } = await exported(rows, "parquet");
    expect(report.written).toBe(6000);
    const read = await parquetReadObjects({ file: await asyncBufferFromFile(outputPath) });
    expect(read).toHaveLength(6000);
    expect(read[5999]).toMatchObject({
      task_index: 5999n,
      agent: "solver",
      reward: 1,
      ok: false,
      score: 1499.75,
      count: 5999n,
      output_text: "answer 5999.0",
    });
    expect((await readdir(directory)).filter((name) => name.endsWith(".partial"))).toEqual([]);
  });

  it.each(["sft", "trl", "verl", "nemo-rl"] as const)(
    "writes whole numbers of rewards as floats: %s",
    async (format) => {
      const { text } = await exported([rollout(0, 0, 1)], format);
      const key = format === "verl" || format === "nemo-rl" ? "avg_reward" : "reward";
      expect(text).toContain(`"${key}":1.0`);
    },
  );

  it("writes an empty Parquet file when nothing is selected", async () => {
    const { outputPath } = await exported([rollout(0, 0, 1)], "parquet", { filters: { rewardMin: 2 } });
    expect(await parquetReadObjects({ file: await asyncBufferFromFile(outputPath) })).toEqual([]);
  });
});

describe("annotations of the viewer", () => {
  const annotate = (...lines: Row[]) =>
    writeFile(
      join(directory, "out_annotations.jsonl"),
      lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
    );
  const note = (task: number, index: number, more: Row): Row => ({
    _ng_task_index: task,
    _ng_rollout_index: index,
    ...more,
  });
  const rows = [rollout(0, 0, 1), rollout(0, 1, 1), rollout(1, 0, 0)];
  const keys = (records: Row[]) =>
    records.map((record) => JSON.stringify(record).match(/answer (\d\.\d)/)?.[1]);

  it("skips excluded rollouts; the last line about a rollout counts", async () => {
    await annotate(
      note(0, 0, { exclude: true }),
      note(0, 1, { exclude: true }),
      note(0, 1, { exclude: false }),
    );
    const { records, report } = await exported(rows, "sft");
    expect(keys(records)).toEqual(["0.1", "1.0"]);
    expect(report.filtered.annotated).toBe(1);
    expect(keys((await exported(rows, "sft", { filters: { includeExcluded: true } })).records)).toHaveLength(
      3,
    );
  });

  it("exports only rollouts with the label", async () => {
    await annotate(note(0, 1, { labels: ["good"] }), note(1, 0, { labels: ["other"] }));
    const { records } = await exported(rows, "sft", { filters: { label: "good" } });
    expect(keys(records)).toEqual(["0.1"]);
  });

  it("names the invalid line", async () => {
    await annotate(note(0, 0, { exclude: "yes" }));
    await expect(exported(rows, "sft")).rejects.toThrow(/out_annotations\.jsonl:1: exclude/);
  });
});
