import { expect, it } from "vitest";
import type { ResponseInputItem } from "../schemas/item-types.ts";
import { splitItems } from "./split-items.ts";

const counts = (items: ResponseInputItem[]) => {
  const { input, output } = splitItems(items);
  return [input.length, output.length];
};
const user: ResponseInputItem = { role: "user", content: "q" };
const result: ResponseInputItem = { type: "function_call_output", call_id: "c", output: "o" };

it("cuts at the first thing the model made", () => {
  expect(counts([user, result, { type: "reasoning", id: "r", summary: [] }, user])).toEqual([2, 2]);
  expect(counts([user, { role: "assistant", content: "a" }, user])).toEqual([1, 2]);
  expect(counts([user, { type: "web_search_call" }])).toEqual([1, 1]);
});

it("never cuts at results and approvals", () => {
  expect(
    counts([user, result, { type: "mcp_approval_response" }, { type: "custom_tool_call_output" }]),
  ).toEqual([4, 0]);
  expect(counts([])).toEqual([0, 0]);
});
