import type { JsonObject } from "../../python/json/json-object.ts";
import { stripMcpPrefix } from "../../wire/convert/mcp-tool-name.ts";

interface Item extends JsonObject {
  type?: unknown;
  name?: unknown;
  call_id?: unknown;
}

/**
 * MCP clients record calls as `mcp__<instance>__<tool>`; verifiers know the tool by its own name. Removes the prefix
 * on a copy and remembers which calls had it.
 */
export function stripToolNames(
  body: unknown,
  instance: string,
): { body: unknown; restored: Map<unknown, string> } {
  const restored = new Map<unknown, string>();
  const response = (body as { response?: JsonObject } | null)?.response;
  const output = response?.["output"];
  if (!Array.isArray(output)) return { body, restored };
  const stripped = (output as Item[]).map((item) => {
    if (item?.type !== "function_call" || typeof item.name !== "string") return item;
    const name = stripMcpPrefix(item.name, instance);
    if (name === item.name) return item;
    restored.set(item.call_id, item.name);
    return { ...item, name };
  });
  if (restored.size === 0) return { body, restored };
  return { body: { ...(body as JsonObject), response: { ...response, output: stripped } }, restored };
}

/** Puts the names the client used back into the echoed response. */
export function restoreToolNames(reply: JsonObject, restored: Map<unknown, string>): JsonObject {
  const response = reply["response"] as JsonObject | undefined;
  const output = response?.["output"];
  if (!Array.isArray(output)) return reply;
  const items = (output as Item[]).map((item) => {
    const name = item?.type === "function_call" ? restored.get(item.call_id) : undefined;
    return name === undefined ? item : { ...item, name };
  });
  return { ...reply, response: { ...response, output: items } };
}
