import { expect, it } from "vitest";
import { conversationOf } from "./conversation.ts";
import { isOneLine, previewOf } from "./preview.ts";

const items = (...output: object[]) => conversationOf({ response: { output } });
const call = (args: unknown, output?: string) =>
  items(
    { type: "function_call", call_id: "c", name: "add", arguments: JSON.stringify(args) },
    ...(output === undefined ? [] : [{ type: "function_call_output", call_id: "c", output }]),
  )[0] as ReturnType<typeof items>[number];

it("shows a small call with its result in one line", () => {
  const item = call({ x: 0, y: [1, 2] }, '{"success": true}');
  expect(previewOf(item)).toBe('(x: 0, y: [ 1, 2 ]) → {"success": true}');
  expect(isOneLine(item)).toBe(true);
  expect(isOneLine(call({}, "two\nlines"))).toBe(false);
  expect(isOneLine(call({ code: "x".repeat(200) }, "ok"))).toBe(false);
  expect(isOneLine(call({ code: "a = 1\nb = 2" }, "ok"))).toBe(false);
  expect(isOneLine(call({}))).toBe(false);
  expect(previewOf(call({ x: 1 }))).toBe("(x: 1)");
});

it("shows the first words of other items", () => {
  const [reasoning, message] = items(
    { type: "reasoning", summary: [{ type: "summary_text", text: "First I\n\nrecall" }] },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "w ".repeat(2_000) }] },
  );
  expect(previewOf(reasoning as never)).toBe("First I recall");
  expect(previewOf(message as never)).toMatch(/^(w )+w?…$/);
});
