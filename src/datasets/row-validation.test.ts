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
  ])("refuses %s at %s", (line, path, message) => {
    const found = problems(line);
    expect(found).toHaveLength(1);
    expect(found[0]?.path).toBe(path);
    expect(found[0]?.message).toMatch(message);
  });

  it("refuses bytes that are no text", () => {
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

  it("reads the integer -0 as 0 and the float as it is", () => {
    const verdict = validateLine('{"a": -0, "b": -0.0, "responses_create_params": {"input": "x"}}');
    expect(Object.is(Number(verdict.row?.["a"]), 0)).toBe(true);
    expect(Object.is(Number(verdict.row?.["b"]), -0)).toBe(true);
  });

  it("keeps the order of keys that look like numbers", () => {
    const verdict = validateLine('{"b": 1, "7": 2.0, "responses_create_params": {"input": "x"}}');
    expect(verdict.valid && verdict.params).toEqual({ input: "x" });
  });
});
