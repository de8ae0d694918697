import { describe, expect, it } from "vitest";
import { conversationOf } from "../../conversation/conversation.ts";
import { callOwners, invocationsOf } from "../../conversation/invocations.ts";
import { timelineOf } from "../../conversation/timeline.ts";
import { timelinePlaces } from "./timeline-places.ts";

/** An agent that delegates to another one, whose calls the conversation does not show. */
const row = {
  responses_create_params: { input: "question" },
  response: {
    output: [
      { type: "function_call", call_id: "c1", name: "delegate", arguments: "{}" },
      { type: "function_call_output", call_id: "c1", output: "done" },
      { type: "message", role: "assistant", content: "answer" },
    ],
  },
  ng_trajectory: {
    invocations: [
      { invocation_id: "root", model_calls: [{ model_call_id: "a" }, { model_call_id: "d" }] },
      {
        invocation_id: "helper",
        parent_invocation_id: "root",
        spawned_by_tool_call_id: "c1",
        model_calls: [{ model_call_id: "b" }],
      },
    ],
    model_calls: ["a", "b", "d"].map((id, place) => ({
      model_call_id: id,
      started_at: place * 2,
      completed_at: place * 2 + 1,
    })),
    tool_calls: [
      { invocation_id: "root", tool_call_id: "c1", tool_name: "delegate", started_at: 1, completed_at: 4 },
      { invocation_id: "helper", tool_call_id: "h1", tool_name: "look", started_at: 3, completed_at: 4 },
    ],
  },
};
const places = timelinePlaces(conversationOf(row), invocationsOf(row), callOwners(row));

describe("timelinePlaces", () => {
  it("links spans to turns and tool calls, and spans of other agents to the call that started them", () => {
    const found = timelineOf(row).map((span) => [
      span.kind,
      span.call ?? span.reference,
      places.ofSpan(span),
    ]);
    expect(found).toEqual([
      ["model", 0, 1],
      ["tool", "c1", 1],
      ["model", 1, 1],
      ["tool", "h1", 1],
      ["model", 2, 3],
    ]);
    expect([places.ofAgent("root"), places.ofAgent("helper")]).toEqual([1, 1]);
  });

  it("assigns the calls of the outermost agent to turns", () => {
    expect([1, 2, 3].map((turn) => places.callOfTurn(turn))).toEqual([0, 2, undefined]);
  });
});
