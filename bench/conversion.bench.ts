import { convertChatCompletion } from "../src/wire/convert/convert-chat-to-responses.ts";
import { convertResponsesToChat } from "../src/wire/convert/convert-responses-to-chat.ts";
import type { ChatCompletion } from "../src/wire/schemas/chat-types.ts";
import { materializeCreateParams, materializeResponse } from "../src/wire/schemas/materialize.ts";
import { parseCreateParams, parseResponse } from "../src/wire/schemas/responses.ts";
import { parseChatCompletion } from "../src/wire/schemas/validate-completion.ts";
import type { Report } from "./report.ts";

export const name = "conversion";

const TURNS = 100;
const BODY_BUDGET_MICROSECONDS = 30;
const WARM_UP_RUNS = 3000;

const words = (count: number) => "the ferry leaves the harbour at five past four ".repeat(count);

const tool = {
  type: "function",
  name: "find_ferry",
  description: "Look up a crossing",
  parameters: { type: "object", properties: { harbour: { type: "string" } }, required: ["harbour"] },
  strict: true,
};

/** About 3 kB, as sent by the agents of this package. */
const request = {
  model: "policy",
  temperature: 0.7,
  input: [
    { role: "system", content: words(10) },
    { role: "user", content: words(8) },
    { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: words(8) }] },
    { type: "function_call", call_id: "call_1", name: "find_ferry", arguments: '{"harbour": "Oban"}' },
    { type: "function_call_output", call_id: "call_1", output: words(6) },
    { role: "user", content: words(6) },
  ],
  tools: [tool, { ...tool, name: "book_ferry" }],
};

const response = {
  id: "resp_1",
  created_at: 1700000000,
  model: "policy",
  object: "response",
  output: [
    { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: words(15) }] },
    {
      type: "function_call",
      call_id: "call_1",
      name: "find_ferry",
      arguments: '{"harbour": "Oban"}',
      id: "fc_1",
    },
    { type: "function_call_output", call_id: "call_1", output: words(10) },
    {
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: words(15), annotations: [] }],
    },
  ],
  parallel_tool_calls: true,
  tool_choice: "auto",
  tools: [tool, { ...tool, name: "book_ferry" }],
};

const conversation = {
  model: "policy",
  input: Array.from({ length: TURNS }, (_, turn) => [
    { role: "user", content: words(2) },
    { type: "reasoning", id: `rs_${turn}`, summary: [{ type: "summary_text", text: words(4) }] },
    { type: "function_call", call_id: `call_${turn}`, name: "find_ferry", arguments: '{"harbour": "Oban"}' },
    { type: "function_call_output", call_id: `call_${turn}`, output: words(3) },
    {
      type: "message",
      id: `msg_${turn}`,
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: words(2), annotations: [] }],
    },
  ]).flat(),
  tools: [tool],
};

const completion: ChatCompletion = {
  id: "chatcmpl-1",
  created: 1700000000,
  model: "backend",
  choices: [
    {
      index: 0,
      finish_reason: "tool_calls",
      message: {
        role: "assistant",
        content: `<think>${words(20)}</think>${words(10)}`,
        tool_calls: [{ id: "call_1", type: "function", function: { name: "find_ferry", arguments: "{}" } }],
      },
    },
  ],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
};

/** The hot path of a rollout: reading and completing bodies, and converting a long conversation. */
export async function run(report: Report): Promise<void> {
  const params = parseCreateParams(request);
  const answer = parseResponse(response);
  const long = parseCreateParams(conversation);
  const requestText = JSON.stringify(request);
  measure(report, "JSON.parse of a 3 kB request, to compare", 20_000, () => JSON.parse(requestText));
  const costs = [
    measure(report, "read a 3 kB request", 20_000, () => parseCreateParams(request)),
    measure(report, "fill in a 3 kB request", 20_000, () => materializeCreateParams(params)),
    measure(report, "read a 3 kB response", 20_000, () => parseResponse(response)),
    measure(report, "fill in a 3 kB response", 20_000, () => materializeResponse(answer)),
  ];
  measure(report, `read a conversation of ${TURNS} turns`, 500, () => parseCreateParams(conversation));
  measure(report, `convert ${TURNS} turns to chat`, 500, () => convertResponsesToChat(long));
  measure(report, "read and convert one completion", 20_000, () =>
    convertChatCompletion(parseChatCompletion(completion), params),
  );
  const worst = Math.max(...costs);
  report.check(
    `a 3 kB body costs at most ${worst.toFixed(1)} µs CPU a step (budget ${BODY_BUDGET_MICROSECONDS})`,
    worst <= BODY_BUDGET_MICROSECONDS,
  );
}

/** Short steps need a separate warm-up and no await between them; returns microseconds. */
function measure(report: Report, label: string, operations: number, operation: () => unknown): number {
  for (let run = 0; run < Math.min(WARM_UP_RUNS, operations); run++) operation();
  const before = process.cpuUsage();
  for (let run = 0; run < operations; run++) operation();
  const { user, system } = process.cpuUsage(before);
  const microseconds = (user + system) / operations;
  report.add({ label, cpuMs: microseconds / 1000, operations });
  return microseconds;
}
