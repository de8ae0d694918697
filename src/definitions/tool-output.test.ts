import { expect, it } from "vitest";
import { toolOutput } from "./tool-output.ts";

it("answers a call with JSON as Python writes it", () => {
  expect(toolOutput({ call_id: "c1" }, { card: "♠A", value: [1, 11] })).toEqual({
    call_id: "c1",
    output: '{"card": "\\u2660A", "value": [1, 11]}',
  });
});
