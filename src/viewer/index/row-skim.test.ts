import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { excerptAt } from "./excerpts.ts";
import { SkimError } from "./json-skimmer.ts";
import { outlineOf } from "./row-outline.ts";
import { RowSkim } from "./row-skim.ts";

const skim = (text: string) => {
  const bytes = Buffer.from(text);
  return new RowSkim().read(bytes, 0, bytes.length);
};

const full = {
  responses_create_params: {
    input: [
      { role: "system", content: "no" },
      { role: "user", content: [{ type: "input_text", text: 'Say "hi"\n' }] },
    ],
  },
  response: {
    model: "m",
    output: [
      { type: "reasoning", summary: [{ type: "summary_text", text: "…" }] },
      { type: "function_call", name: "python", call_id: "1", arguments: "{}" },
      { type: "function_call_output", call_id: "1", output: '{"reward": 9, "_ng_task_index": 9}' },
      { type: "function_call", name: "shell", call_id: "2", arguments: "{}" },
      { type: "function_call", name: "python", call_id: "3", arguments: "{}" },
      { type: "function_call_output", call_id: "2", output: "" },
      { type: "function_call_output", call_id: "3", output: "" },
      {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: "Grüße" }],
        generation_token_ids: Array.from({ length: 400 }, (_, id) => id),
      },
    ],
    usage: { input_tokens: 5, output_tokens: 7, ng_cost: 0.25 },
  },
  metadata: { reward: 0.5, _ng_task_index: 4 },
  reward: 1.0,
  _ng_task_index: 12,
  _ng_rollout_index: 3,
  agent_ref: { type: "responses_api_agents", name: "é agent" },
};

describe("RowSkim", () => {
  it("reads the facts of a row, but not those of nested objects", () => {
    for (const text of [JSON.stringify(full), JSON.stringify(full, null, 3)]) {
      const facts = skim(text);
      expect(facts).toMatchObject({
        task: 12,
        rollout: 3,
        reward: 1,
        agent: "é agent",
        masked: false,
        failure: undefined,
        model: "m",
        inputTokens: 5,
        outputTokens: 7,
        cost: 0.25,
        turns: 3,
        toolCalls: 3,
        tools: ["python", "shell"],
      });
      const bytes = Buffer.from(text);
      expect(excerptAt(bytes.subarray(facts.promptAt))).toBe('Say "hi"');
      expect(excerptAt(bytes.subarray(facts.answerAt))).toBe("Grüße");
    }
  });

  it("reads all forms of rewards and masks", () => {
    const reward = (written: string) => skim(`{"reward": ${written}}`).reward;
    expect(["1", "-0.5", "1e-7", "true", "false", "null", '"1"', "NaN", "[1]"].map(reward)).toEqual([
      1,
      -0.5,
      1e-7,
      1,
      0,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    const masked = (written: string) => skim(`{"mask_sample":${written}}`).masked;
    expect(["true", "1", '"x"', "[0]", "false", "0", "null", '""', "[]", "{}"].map(masked)).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
      false,
      false,
      false,
      false,
    ]);
    // The last of two members with the same name counts, as in other JSON readers.
    expect(skim('{"reward":0,"reward":1}').reward).toBe(1);
  });

  it("takes the duration from the collection, else from the trajectory, else from the calls", () => {
    const timing = { _ng_timing: { started_at: "", seconds: 2.5, verify: { at: 2, seconds: 0.1 } } };
    const trajectory = { ng_trajectory: { invocations: [{ duration_ms: 700 }, { duration_ms: 1900 }] } };
    const capture = { ng_model_call_capture: { metrics: { latency_total_ms: 900 } } };
    const duration = (row: object) => skim(JSON.stringify(row)).durationMs;
    expect(duration({ ...timing, ...trajectory, ...capture })).toBe(2500);
    expect(duration({ ...capture, ...trajectory, ...timing })).toBe(2500);
    expect(duration({ ...capture, ...trajectory })).toBe(1900);
    expect(duration(capture)).toBe(900);
    expect(duration({ _ng_timing: null, reward: 1 })).toBeUndefined();
  });

  it("skips arrays of numbers, with or without strings in them", () => {
    const numbers = Array.from({ length: 500 }, (_, place) => place).join(", ");
    expect(skim(`{"a":[${numbers}],"b":[${numbers},"]"],"c":[${numbers},[1]],"reward":1}`).reward).toBe(1);
  });

  it.each([
    "",
    "[]",
    "{",
    '{"a"}',
    '{"a":}',
    '{"a":1',
    '{"a":oops}',
    '{"a":1}}',
    '{"a":"b}',
    "null",
    '{"a":1 "b":2}',
  ])("rejects %j", (text) => expect(() => skim(text)).toThrow(SkimError));

  it("reads the same facts as a JSON parser", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        (more, reward) => {
          const row = { ...more, reward, nested: { reward: 77, deep: more } };
          expect(skim(JSON.stringify(row)).reward).toBe(reward === 0 ? 0 : reward);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe("outlineOf", () => {
  it("truncates long values of a large row and reports their positions", () => {
    const row = {
      id: 1,
      text: `a"\\é${"x".repeat(200_000)}`,
      response: {
        output: [
          { type: "message", content: "é".repeat(100_000) },
          { ids: Array.from({ length: 50_000 }, (_, id) => id) },
        ],
      },
      reward: 0.5,
    };
    const bytes = Buffer.from(JSON.stringify(row));
    const { text, elided } = outlineOf(bytes);
    const cut = JSON.parse(text) as typeof row;
    expect(text.length).toBeLessThan(200_000);
    expect(cut.response.output[0]).toEqual(row.response.output[0]);
    expect(cut.reward).toBe(0.5);
    expect(row.text.startsWith(cut.text)).toBe(true);
    expect(elided.map(({ path, kind }) => [path.join("."), kind])).toEqual([
      ["text", "string"],
      ["response.output.1.ids", "numbers"],
    ]);
    for (const { from, to, path } of elided) {
      const whole: unknown = JSON.parse(bytes.toString("utf8", from, to));
      const value = path.reduce<unknown>((at, key) => (at as Record<string | number, unknown>)[key], row);
      expect(whole).toEqual(value);
    }
  });

  it("keeps the conversation whole when captures are large", () => {
    const said = {
      output: Array.from({ length: 100 }, (_, n) => ({ text: `${n} ${"word ".repeat(1_000)}` })),
    };
    const ng_trajectory = Array.from({ length: 4_000 }, (_, n) => ({ n, text: "copy ".repeat(1_000) }));
    const { text, elided } = outlineOf(Buffer.from(JSON.stringify({ response: said, ng_trajectory })));
    expect(JSON.parse(text).response).toEqual(said);
    expect(elided).toHaveLength(4_000);
    expect(new Set(elided.map(({ path }) => path[0]))).toEqual(new Set(["ng_trajectory"]));
    expect(text.length).toBeLessThan(8_000_000);
  });

  it("shortens a conversation that is too large itself", () => {
    const said = { output: Array.from({ length: 100 }, () => ({ text: "word ".repeat(20_000) })) };
    const { text, elided } = outlineOf(Buffer.from(JSON.stringify({ response: said, log: "short" })));
    expect(text.length).toBeLessThan(7_000_000);
    expect(elided).toHaveLength(100);
  });
});
