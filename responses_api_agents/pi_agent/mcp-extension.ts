/**
 * An extension for Pi, which has no MCP client: it lists the tools of the server named in `gym-mcp.json` next to it and
 * registers each of them. It runs inside Pi, so it is a string here and imports nothing.
 */
export const mcpExtension = `
import { readFileSync } from "node:fs";

const { name, url, headers } = JSON.parse(readFileSync(new URL("./gym-mcp.json", import.meta.url), "utf8"));
let serial = 0;

async function request(method, params, signal) {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: ++serial, method, params }),
    signal,
  });
  const text = await answer.text();
  const json = text.startsWith("{") ? text : text.split("\\n").filter((line) => line.startsWith("data:")).at(-1)?.slice(5);
  const { result, error } = JSON.parse(json ?? "{}");
  if (error) throw new Error(error.message);
  return result;
}

export default async function (pi) {
  await request("initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "pi", version: "1.0.0" },
  });
  const { tools } = await request("tools/list", {});
  for (const tool of tools) {
    pi.registerTool({
      name: name + "__" + tool.name,
      label: tool.name,
      description: tool.description ?? tool.name,
      parameters: tool.inputSchema,
      async execute(_id, params, signal) {
        const { content, isError } = await request("tools/call", { name: tool.name, arguments: params }, signal);
        if (isError) throw new Error(content.map((part) => part.text ?? "").join("\\n"));
        return { content, details: {} };
      },
    });
  }
}
`;
