import { describe, expect, it } from "vitest";
import { splitItems } from "../read-output.ts";
import { list, readWith } from "./readers.ts";
import { readInputItem, readOutputItem } from "./validate-items.ts";
import { ValidationError } from "./validation.ts";

const read = (item: unknown) => readWith(readInputItem, item, []);
const image = { type: "input_image", image_url: "u" };
const tokens = { prompt_token_ids: [1], generation_token_ids: [2], generation_log_probs: [-0.5] };

describe("messages", () => {
  it("require the detail of an image with a type, and are kept unchanged without a type", () => {
    expect(() => read({ type: "message", role: "user", content: [image] })).toThrow("detail");
    expect(read({ role: "user", content: [image] })).toEqual({ role: "user", content: [image] });
  });

  it("are read by the form that fits", () => {
    const empty = { type: "message", id: "m", role: "assistant", content: [] };
    expect(read({ ...empty, status: "completed" })).toEqual({ ...empty, status: "completed" });
    expect(read({ ...empty, status: "odd" })).toEqual({ type: "message", role: "assistant", content: [] });
    const asked = { type: "message", role: "user", content: [{ type: "input_text", text: "q" }] };
    expect(read({ ...asked, status: "completed", id: "m" })).toEqual({ ...asked, status: "completed" });
    expect(read({ ...asked, status: "odd" })).toEqual(asked);
  });

  it("recognize output parts by their fields, and citations by their type", () => {
    const said = { id: "m", role: "assistant", content: [{ refusal: "no" }, { text: "a", annotations: [] }] };
    expect(read(said)).toEqual(said);
    const cited = (annotation: object) => ({
      ...{ type: "message", id: "m", role: "assistant" },
      content: [{ type: "output_text", text: "a", annotations: [annotation] }],
    });
    expect(() => read(cited({ type: "odd" }))).toThrow(ValidationError);
    expect(read(cited({ type: "file_path", file_id: "f", index: 0 }))).toBeDefined();
  });

  it.each([null, "", "ghost"])("are rejected with the type %j", (type) => {
    expect(() => read({ type, role: "user", content: "x" })).toThrow(ValidationError);
  });
});

describe("token lists", () => {
  it("must be complete, and null is not a list", () => {
    expect(() => read({ role: "user", content: "x", prompt_token_ids: null })).toThrow("must all be present");
    expect(() => read({ role: "user", content: "x", ...tokens, routed_experts: [1] })).toThrow(
      ValidationError,
    );
    expect(read({ role: "user", content: "x", ...tokens, routed_experts: null })).toMatchObject(tokens);
  });

  it("are checked and left out of tool outputs", () => {
    const output = { type: "function_call_output", call_id: "c", output: "o" };
    expect(read({ ...output, ...tokens })).toEqual(output);
    expect(() => read({ ...output, prompt_token_ids: [1] })).toThrow(ValidationError);
  });
});

describe("hosted items", () => {
  it("require the fields that the API always sends", () => {
    const search = { type: "web_search_call", id: "w", status: "completed", action: { type: "search" } };
    const parse = (item: object) => readWith(readOutputItem, item, []);
    expect(parse({ ...search, extra: 1 })).toEqual({ ...search, extra: 1 });
    expect(() => parse({ ...search, status: undefined })).toThrow("status");
    expect(() => parse({ ...search, action: { type: "odd" } })).toThrow(ValidationError);
    expect(parse({ type: "mcp_call", name: "n", arguments: "{}" })).toBeDefined();
  });
});

it("items without a type are split at the first generated form", () => {
  const counts = (...items: object[]) => {
    const { input, output } = splitItems(readWith(list(readInputItem), items, []));
    return [input.length, output.length];
  };
  expect(counts({ role: "user", content: "a" }, { role: "assistant", content: "b" })).toEqual([1, 1]);
  expect(counts({ role: "user", content: "a" }, { role: "tool", tool_call_id: "t", content: "b" })).toEqual([
    1, 1,
  ]);
  expect(counts({ call_id: "c", output: "o" }, { role: "user", content: "a" })).toEqual([2, 0]);
});
