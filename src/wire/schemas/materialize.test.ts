import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { materializeCreateParams, materializeResponse } from "./materialize.ts";
import { parseCreateParams, parseResponse } from "./responses.ts";

describe("materializeCreateParams", () => {
  it("fills in nulls and the defaults of the API", () => {
    const filled = materializeCreateParams(parseCreateParams({ input: [{ role: "user", content: "q" }] }));
    expect(JSON.stringify(filled)).toBe(
      '{"background":null,"include":null,"input":[{"content":"q","role":"user","type":"message"}],"instructions":null,' +
        '"max_output_tokens":null,"max_tool_calls":null,"metadata":null,"model":null,"parallel_tool_calls":true,' +
        '"previous_response_id":null,"prompt":null,"reasoning":null,"service_tier":null,"store":null,"temperature":null,' +
        '"text":null,"tool_choice":"auto","tools":[],"top_logprobs":null,"top_p":null,"truncation":null,"user":null,' +
        '"stream":null}',
    );
  });

  it("does not change untyped items that are not messages", () => {
    const input = [
      { role: "tool", tool_call_id: "t", content: "x" },
      { role: "assistant", content: [{ type: "output_text", text: "no annotations" }] },
      { id: "odd", content: [{ type: "text", text: "x" }] },
    ];
    expect(materializeCreateParams(parseCreateParams({ input })).input).toEqual(input);
  });
});

describe("materializeResponse", () => {
  it("puts token lists first and fills in the defaults of items", () => {
    const tokens = { prompt_token_ids: [1], generation_token_ids: [2], generation_log_probs: [-0.5] };
    const response = parseResponse({
      id: "r",
      created_at: 1,
      model: "m",
      object: "response",
      output: [
        { type: "function_call", call_id: "c", name: "f", arguments: "{}", ...tokens },
        { type: "message", id: "m", content: [{ type: "output_text", text: "t", annotations: [] }] },
        { type: "reasoning", id: "rs", summary: [] },
      ],
      parallel_tool_calls: true,
      tool_choice: "auto",
      tools: [{ type: "function", name: "f" }],
      later: 1,
    });
    const filled = materializeResponse(response);
    expect(JSON.stringify(filled.output)).toBe(
      '[{"prompt_token_ids":[1],"generation_token_ids":[2],"generation_log_probs":[-0.5],"arguments":"{}",' +
        '"call_id":"c","name":"f","type":"function_call","id":null,"status":null},' +
        '{"id":"m","content":[{"annotations":[],"text":"t","type":"output_text","logprobs":null}],"role":"assistant",' +
        '"status":"completed","type":"message"},' +
        '{"id":"rs","summary":[],"type":"reasoning","encrypted_content":null,"content":null}]',
    );
    expect(filled.tools).toEqual([
      { name: "f", parameters: null, strict: null, type: "function", description: null },
    ]);
    expect(filled).toMatchObject({ usage: null, status: null, later: 1 });
  });
});

interface Rollout {
  responses_create_params?: Record<string, unknown>;
  response?: Record<string, unknown>;
}

/** The examples of the environments and, if there are any, recordings of the original. */
function recordedRollouts(): Rollout[] {
  const further = process.env["NEMO_GYM_GOLDEN_VECTORS"];
  const files = [
    ...filesBelow(
      path.resolve(import.meta.dirname, "../../../resources_servers"),
      /example_rollouts\.jsonl$/,
    ),
    ...(further ? filesBelow(further, /upstream_data\/[^/]*rollouts[^/]*\.jsonl$/) : []),
  ];
  return files.flatMap((file) =>
    readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line.startsWith("{") && line.endsWith("}"))
      .map((line) => JSON.parse(line) as Rollout),
  );
}

function filesBelow(directory: string, pattern: RegExp): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((file) => pattern.test(file))
    .map((file) => path.join(directory, file));
}

/** Field sets differ between the SDK versions that wrote the recordings; null and absent count as the same here. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => (member === null ? [] : [[key, withoutNulls(member)]])),
  );
}

/** A few recordings were made by hand, or by an agent that keeps the row as it is: other key order, no `type`. */
function inWrittenOrder(input: unknown): boolean {
  if (!Array.isArray(input)) return false;
  return input.every(
    (item: object) => "type" in item && !["role", "type"].includes(Object.keys(item)[0] ?? ""),
  );
}

describe("recorded rollouts", () => {
  const rollouts = recordedRollouts();

  it("are unchanged by parsing and filling in", () => {
    let compared = 0;
    for (const { responses_create_params: params, response } of rollouts) {
      if (
        params &&
        "background" in params &&
        params["tool_choice"] !== null &&
        inWrittenOrder(params["input"])
      ) {
        // Older recordings were made before reasoning items had `content`.
        const text = (value: object) => JSON.stringify(value).replaceAll(',"content":null}', "}");
        expect(text(materializeCreateParams(parseCreateParams(params)))).toBe(text(params));
        compared++;
      }
      const isWhole = response && "usage" in response && "user" in response;
      const usage = response?.["usage"] as Record<string, unknown> | null | undefined;
      if (isWhole && !(usage && "prompt_tokens" in usage) && !("contains_transitions" in response)) {
        expect(withoutNulls(materializeResponse(parseResponse(response)))).toEqual(withoutNulls(response));
        compared++;
      }
    }
    expect(compared).toBeGreaterThan(100);
  });
});

it("accepts a function tool without strict, as LangChain sends it", () => {
  const tool = { type: "function" as const, name: "add", parameters: { type: "object", properties: {} } };
  const { tools } = materializeCreateParams(parseCreateParams({ input: "q", tools: [tool] }));
  expect(tools).toEqual([tool]);
});
