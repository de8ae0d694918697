import { createServer } from "node:http";

interface Item {
  type?: string;
  call_id?: string;
  output?: string;
}

/** Calls `get_weather` of the environment once, then answers with its output. Replace it with your agent. */
export function respond(conversation: readonly Item[]): object {
  const said = conversation.findLast((item) => item.type === "function_call_output")?.output;
  const item =
    said === undefined
      ? { type: "function_call", call_id: "call_1", name: "get_weather", arguments: '{"city":"Oslo"}' }
      : {
          type: "message",
          id: "msg_1",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: said, annotations: [] }],
        };
  return {
    id: "resp_1",
    created_at: Math.floor(Date.now() / 1000),
    model: "my-agent",
    object: "response",
    output: [item],
    parallel_tool_calls: true,
    tool_choice: "auto",
    tools: [],
  };
}

export const service = createServer(async (request, response) => {
  let text = "";
  for await (const chunk of request) text += chunk;
  const { input } = JSON.parse(text) as { input: Item[] };
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(respond(input)));
});

if (process.argv[2] !== undefined) service.listen(Number(process.argv[2]), "127.0.0.1");
