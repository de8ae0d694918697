import { describe, expect, it } from "vitest";
import type { Loss } from "./convert/conversion-loss.ts";
import { ValidationError } from "./schemas/validation.ts";
import {
  parseSanitizedParams,
  sanitizeStreamingChat,
  sanitizeStreamingResponses,
} from "./stream/sanitize-streaming.ts";

const feed = { type: "function", name: "feed", parameters: {}, strict: false };

describe("sanitizeStreamingResponses", () => {
  it("flattens namespaces, also in calls and tool lists of the input", () => {
    const { request, namespaces } = sanitizeStreamingResponses({
      input: [
        {
          type: "additional_tools",
          tools: [{ type: "namespace", name: "sea", tools: [feed] }, { type: "local_shell" }],
        },
        { type: "function_call", namespace: "zoo", name: "feed", call_id: "c", arguments: "{}" },
      ],
      tools: [{ type: "namespace", name: "zoo", tools: [feed, { nameless: true }] }, { type: "ghost" }],
    });
    expect(request).toEqual({
      input: [{ type: "function_call", name: "zoo__feed", call_id: "c", arguments: "{}" }],
      tools: [
        { ...feed, name: "zoo__feed" },
        { ...feed, name: "sea__feed" },
      ],
    });
    expect(namespaces).toEqual({ zoo__feed: ["zoo", "feed"], sea__feed: ["sea", "feed"] });
  });

  it("collects leading instructions, and drops and reports invalid content", () => {
    const losses: Loss[] = [];
    const { request } = sanitizeStreamingResponses(
      {
        stream: true,
        client_metadata: {},
        instructions: "A",
        input: [
          { role: "system", content: "B" },
          { type: "message", role: "developer", content: [{ type: "input_text", text: "C" }] },
          { role: "user", content: "q" },
          { role: "system", content: "late" },
          { type: "ghost" },
          5,
        ],
      },
      (loss) => losses.push(loss),
    );
    expect(request).toEqual({
      instructions: "A\n\nB\n\nC",
      input: [
        { role: "user", content: "q" },
        { role: "system", content: "late" },
      ],
    });
    expect(losses.map(({ field }) => field)).toEqual(["client_metadata", "input.4", "input.5"]);
  });

  it("leaves tools that are not a list to the validation", () => {
    const hidden = { type: "additional_tools", tools: [feed] };
    for (const input of ["hi", [hidden]]) {
      const { request } = sanitizeStreamingResponses({ input, tools: "x", stream: true });
      expect(() => parseSanitizedParams(request, ["body"])).toThrow(ValidationError);
    }
    expect(sanitizeStreamingResponses({ input: [hidden], tools: null }).request["tools"]).toEqual([feed]);
  });

  it("does not change the given body", () => {
    const body = {
      input: [{ type: "function_call", namespace: "n", name: "f", call_id: "c", arguments: "{}" }],
    };
    const before = structuredClone(body);
    sanitizeStreamingResponses(body);
    expect(body).toEqual(before);
  });
});

describe("parseSanitizedParams", () => {
  it("removes forbidden nested keys", () => {
    const losses: Loss[] = [];
    const body = {
      input: "x",
      reasoning: { effort: "low", colour: "auto" },
      tools: [{ ...feed, colour: 1 }],
    };
    expect(parseSanitizedParams(body, ["body"], (loss) => losses.push(loss))).toEqual({
      input: "x",
      reasoning: { effort: "low" },
      tools: [feed],
    });
    expect(losses.map(({ field }) => field)).toEqual(["reasoning.colour", "tools.0.colour"]);
    expect(body.reasoning).toHaveProperty("colour");
  });

  it("rejects invalid values", () => {
    expect(() => parseSanitizedParams({ input: 5 })).toThrow(ValidationError);
    expect(() => parseSanitizedParams({ reasoning: { context: 1 } })).toThrow("input: Field required");
  });
});

describe("sanitizeStreamingChat", () => {
  it("drops streaming settings and keeps unknown keys", () => {
    const body = { messages: [], n: 1, stream: true, stream_options: { include_usage: true }, odd: 1 };
    expect(sanitizeStreamingChat(body)).toEqual({
      request: { messages: [], n: 1, odd: 1 },
      includeUsage: true,
    });
    expect(sanitizeStreamingChat({ messages: [] }).includeUsage).toBe(false);
  });
});
