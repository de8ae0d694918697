import { callsOf, classifyCalls, type ResponseOutputItem } from "nemo-gym/openai";
import { createTestServer, VllmDouble, type VllmDoubleOptions } from "nemo-gym/testing";
import { afterEach, describe, expect, it } from "vitest";
import plainModel from "../../responses_api_models/vllm_model/app.ts";
import modelDefinition from "../../responses_api_models/vllm_model_with_compaction/app.ts";
import agentDefinition from "./app.ts";
import { compactionAgentConfig, contextHistory } from "./config.ts";
import { recentView } from "./recency.ts";

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

const LIMIT = 16_384;
const tools = [
  {
    type: "function",
    name: "read_page",
    parameters: { type: "object", properties: { page: { type: "integer" } } },
    strict: true,
  },
];

/** An agent that reads pages until it has read all of them. */
async function rollout(
  turns: number,
  history: object,
  {
    definition = modelDefinition,
    ...options
  }: VllmDoubleOptions & { definition?: typeof modelDefinition } = {},
) {
  let turn = 0;
  const double = await new VllmDouble({
    answer: () =>
      ++turn < turns
        ? { text: `Page ${turn}.`, toolCalls: [{ name: "read_page", arguments: `{"page": ${turn}}` }] }
        : { text: "All pages are read." },
    splicesPrefix: true,
    maxModelLen: LIMIT,
    ...options,
  }).start();
  const model = await createTestServer(definition, {
    name: "policy_model_for_compaction",
    config: {
      base_url: double.baseUrl,
      api_key: "EMPTY",
      model: double.model,
      return_token_id_information: true,
      request_prompt_and_generation_token_ids: true,
      uses_reasoning_parser: true,
    },
  });
  const agent = await createTestServer(agentDefinition, {
    name: "agent",
    config: {
      resources_server: { type: "resources_servers", name: "book" },
      model_server: { type: "responses_api_models", name: "policy_model_for_compaction" },
      context_history: { enabled: true, ...history },
    },
    servers: {
      policy_model_for_compaction: model.app,
      book: () => ({
        status: 200,
        body: { text: `${"It was a dark and stormy night. ".repeat(20)}${turn}` },
      }),
    },
  });
  open.push(double, model, agent);
  const { status, body } = await agent.post("/v1/responses", {
    input: [{ role: "user", content: "Read all pages." }],
    tools,
  });
  return { status, body: body as Answer, double, log: model };
}

interface ChunkRecord {
  chunk_index: number;
  first_step: number;
  last_step: number;
  reason: string;
  output_start: number;
  omitted: { turns: number };
}
interface Answer {
  status: string;
  output: ResponseOutputItem[];
  metadata: Record<string, unknown> | null;
  chunk_records: ChunkRecord[];
  boundary_events: unknown[];
  guard_records: { decision: string; tokens: number }[];
  final_policy_decision: string;
}

const keepTurns = { type: "recency", config: { turns: { enabled: true, keep_last_turns: 8 } } };

describe("an agent that compacts its context", () => {
  it("finishes a task of 200 turns with a limit of 16,384 tokens, in exact segments", async () => {
    const { status, body, double } = await rollout(200, {
      policy: keepTurns,
      schedule: { type: "turn_chunked_recency", actions_per_chunk: 1_000 },
      guards: { max_total_tokens: LIMIT, reserved_generation_tokens: 256 },
    });
    expect(status).toBe(200);
    expect(body.output.at(-1)).toMatchObject({ type: "message", content: [{ text: "All pages are read." }] });
    expect(double.calls).toHaveLength(200);
    const longest = Math.max(...double.calls.map(({ promptIds }) => promptIds.length));
    expect(longest).toBeLessThanOrEqual(LIMIT - 256);
    expect(longest).toBeGreaterThan(LIMIT / 2);

    const records = body.chunk_records;
    expect(records.length).toBeGreaterThan(2);
    expect(records.slice(1).every(({ reason }) => reason === "guard")).toBe(true);
    const starts = records.map(({ output_start }) => output_start);
    const segments = starts.map((start, index) => body.output.slice(start, starts[index + 1]));
    const counts = segments.map((segment) => classifyCalls(callsOf(segment)).counts);
    expect(counts.every(({ fork, lost }) => fork + lost === 0)).toBe(true);
    expect(counts.reduce((sum, { extend }) => sum + extend, 0)).toBe(200 - records.length);
    expect(
      records.map(({ first_step, last_step }) => last_step - first_step + 1).reduce((a, b) => a + b),
    ).toBe(200);
    expect(body.boundary_events).toHaveLength(records.length - 1);
    expect(body.guard_records.filter(({ decision }) => decision === "admit_after_compaction")).toHaveLength(
      records.length - 1,
    );
    // The answer is complete: what the model no longer sees is in the result.
    expect(body.output.filter(({ type }) => type === "function_call_output")).toHaveLength(199);
  });

  it("cannot finish the task without compaction", async () => {
    const { body } = await rollout(200, {
      guards: { max_total_tokens: LIMIT, reserved_generation_tokens: 256 },
    });
    expect(body).toMatchObject({ status: "incomplete", final_policy_decision: "reject" });
    expect(body.metadata).toMatchObject({ ng_termination_reason: "context_limit" });
    expect(body.chunk_records).toHaveLength(1);
  });

  it("changes its view at chunk borders only", async () => {
    const { body, double } = await rollout(30, {
      policy: keepTurns,
      schedule: { type: "turn_chunked_recency", actions_per_chunk: 10 },
    });
    expect(body.chunk_records.map(({ first_step, reason }) => [first_step, reason])).toEqual([
      [1, "start"],
      [11, "schedule"],
      [21, "schedule"],
    ]);
    expect(double.calls.flatMap(({ continues }, index) => (continues ? [] : [index + 1]))).toEqual([
      1, 11, 21,
    ]);
  });

  it("sends the whole conversation while nothing has to be omitted", async () => {
    const { body } = await rollout(5, { policy: { type: "identity" } });
    expect(body.chunk_records).toHaveLength(1);
    expect(classifyCalls(callsOf(body.output)).counts).toEqual({ extend: 4, fork: 0, lost: 0 });
  });

  it("rejects a row that does not fit, and a model server that cannot count", async () => {
    const guards = { max_total_tokens: 10 };
    const large = await rollout(2, { guards });
    expect([large.status, JSON.stringify(large.body)]).toEqual([
      422,
      expect.stringContaining("larger than the guards"),
    ]);
    const plain = await rollout(2, { guards }, { definition: plainModel as never });
    expect(plain.status).toBe(422);
    expect(JSON.stringify(plain.body)).toContain("vllm_model_with_compaction");
  });
});

describe("the config", () => {
  it("has the defaults of the reference", () => {
    expect(contextHistory.parse({})).toMatchObject({
      enabled: false,
      policy: { type: "identity", config: { images: { omission_marker: "[Earlier image omitted]" } } },
      schedule: { type: "rolling_recency", actions_per_chunk: 1 },
      guards: { max_total_tokens: null, reserved_generation_tokens: 0 },
    });
  });

  it("rejects unknown keys and a recency without a kind", () => {
    const parse = (context_history: object) =>
      compactionAgentConfig.safeParse({
        model_server: { type: "responses_api_models", name: "m" },
        context_history,
      });
    expect(parse({ policy: { type: "recency" } }).error?.message).toContain("recency needs images");
    expect(parse({ guard: {} }).success).toBe(false);
    expect(parse({ schedule: { actions_per_chunk: 0 } }).success).toBe(false);
  });
});

describe("recency", () => {
  const config = (kinds: object) =>
    contextHistory.parse({ policy: { type: "recency", config: kinds } }).policy.config;
  const image = (name: string) => ({
    role: "user",
    content: [
      { type: "input_image", image_url: name },
      { type: "input_text", text: name },
    ],
  });
  const thought = (id: string) => ({ type: "reasoning", id, summary: [] });

  it("replaces old images by the marker, and protects those of the row", () => {
    const items = [image("row"), image("a"), image("b")] as never[];
    const kinds = { images: { enabled: true, keep_last_groups: 1 } };
    const view = recentView(items, [1, 2], config(kinds));
    expect(JSON.stringify(view.items)).toBe(
      JSON.stringify([
        image("row"),
        {
          role: "user",
          content: [
            { type: "input_text", text: "[Earlier image omitted]" },
            { type: "input_text", text: "a" },
          ],
        },
        image("b"),
      ]),
    );
    const unprotected = { images: { ...kinds.images, protect_initial_context: false } };
    expect(recentView(items, [1, 2], config(unprotected)).omitted.images).toBe(2);
  });

  it("keeps the reasoning of the last turns, and of the first if asked", () => {
    const items = ["a", "b", "b2", "c", "d"].map(thought) as never[];
    const ids = (kinds: object) =>
      recentView(items, [0, 1, 3, 4], config({ reasoning: { enabled: true, ...kinds } })).items.map(
        (item) => (item as { id: string }).id,
      );
    expect(ids({ keep_last_blocks: 2 })).toEqual(["c", "d"]);
    expect(ids({ keep_last_blocks: 3 })).toEqual(["b", "b2", "c", "d"]);
    expect(ids({ keep_last_blocks: 1, keep_first_block: true })).toEqual(["a", "d"]);
    expect(ids({ keep_last_blocks: 0 })).toEqual([]);
  });
});
