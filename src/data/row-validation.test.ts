import { describe, expect, it } from "vitest";
import { validateLine } from "./row-validation.ts";

const problems = (line: string | null) => {
  const verdict = validateLine(line);
  return verdict.valid ? [] : verdict.problems;
};
const tool = '{"type": "function", "name": "f", "parameters": {}, "strict": true}';

describe("validateLine", () => {
  it.each([
    '{"responses_create_params": {"input": "x"}, "v": NaN}',
    `{"responses_create_params": {"input": [{"role": "user", "content": "x"}], "tools": [${tool}]}}`,
    '{"responses_create_params": {"input": [{"anything": 1}], "max_output_tokens": "12"}}',
  ])("accepts %s", (line) => {
    expect(problems(line)).toEqual([]);
  });

  it.each([
    ["{not json", "", /^not JSON: .* at character 2$/],
    ["", "", "the line is blank"],
    ["  ", "", "the line is blank"],
    ["[1]", "", "the row is not a JSON object"],
    ['{"foo": 1}', "responses_create_params", "Field required"],
    ['{"responses_create_params": {}}', "responses_create_params.input", "Field required"],
    [
      '{"responses_create_params": {"input": "x", "a b": 1}}',
      'responses_create_params["a b"]',
      /not permitted/,
    ],
    ['{"responses_create_params": {"input": ["x"]}}', "responses_create_params.input[0]", /./],
    [
      '{"responses_create_params": {"input": "x", "tools": [{"type": "function", "name": "f", "parameters": {}}]}}',
      "responses_create_params.tools[0].strict",
      "Field required",
    ],
  ])("rejects %s at %s", (line, path, message) => {
    const found = problems(line);
    expect(found).toHaveLength(1);
    expect(found[0]?.path).toBe(path);
    expect(found[0]?.message).toMatch(message);
  });

  it.each([
    // A known field counts twice, an unknown one that is kept once; the form with most wins, the first of equals.
    [{ role: "user", content: "x", name: "n" }, ["content", "role"]],
    [{ role: "user", content: "x", id: null }, ["content", "role"]],
    [{ role: "user", content: "x", id: null, name: "n" }, ["content", "id", "name", "role"]],
    [{ role: "user", content: "x", a: 1, b: 2 }, ["content", "role"]],
    [{ role: "user", content: "x", a: 1, b: 2, c: 3 }, ["a", "b", "c", "content", "role"]],
    [{ role: "user", content: [], status: "completed", id: "i" }, ["content", "role", "status"]],
    [{ role: "assistant", content: [], id: "i" }, ["content", "id", "role"]],
    [{ call_id: "c", output: "x", a: 1, b: 2 }, ["call_id", "output"]],
    [{ call_id: "c", output: "x", a: 1, b: 2, c: 3 }, ["a", "b", "c", "call_id", "output"]],
    [{ name: "n", arguments: "{}", call_id: "c", a: 1 }, ["arguments", "call_id", "name"]],
    [{ name: "n", arguments: "{}", a: 1 }, ["a", "arguments", "name"]],
    [{ role: "tool", content: "x" }, ["content", "role"]],
    [
      {
        role: "user",
        content: "x",
        routed_experts: null,
        prompt_token_ids: [],
        generation_token_ids: [],
        generation_log_probs: [],
      },
      [
        "content",
        "generation_log_probs",
        "generation_token_ids",
        "prompt_token_ids",
        "role",
        "routed_experts",
      ],
    ],
  ])("keeps of the untyped item %j the keys %j", (item, keys) => {
    const verdict = validateLine(JSON.stringify({ responses_create_params: { input: [item] } }));
    const [read] = (verdict.valid ? verdict.params["input"] : []) as object[];
    expect(Object.keys(read ?? {}).sort()).toEqual(keys);
  });

  it.each([
    { role: "tool", content: "x", id: 5 },
    { role: "user", content: "x", type: null },
    { role: "user", content: "x", prompt_token_ids: null },
    { type: "message", role: "user", content: [{ type: "input_image", image_url: "u" }] },
    { type: "web_search_call", id: "w", status: "completed" },
  ])("rejects the item %j", (item) => {
    expect(problems(JSON.stringify({ responses_create_params: { input: [item] } }))).not.toEqual([]);
  });

  it("rejects bytes that are not text", () => {
    expect(problems(null)).toEqual([{ path: "", message: "the line is not UTF-8 text" }]);
  });

  it.each(["18446744073709551616", "1000000000000000000000000"])(
    "takes the integer %s, but no such float",
    (digits) => {
      const line = (number: string) =>
        `{"responses_create_params": {"input": "x", "max_output_tokens": ${number}}}`;
      expect(validateLine(line(digits)).valid).toBe(true);
      expect(validateLine(line(`${digits}.0`)).valid).toBe(false);
    },
  );

  it("reads the integer -0 as 0 and keeps the float -0.0", () => {
    const verdict = validateLine('{"a": -0, "b": -0.0, "responses_create_params": {"input": "x"}}');
    expect(Object.is(Number(verdict.row?.["a"]), 0)).toBe(true);
    expect(Object.is(Number(verdict.row?.["b"]), -0)).toBe(true);
  });

  it("keeps the order of keys that look like numbers", () => {
    const verdict = validateLine('{"b": 1, "7": 2.0, "responses_create_params": {"input": "x"}}');
    expect(verdict.valid && verdict.params).toEqual({ input: "x" });
  });
});
