import { show } from "../difference.ts";
import { difference } from "./compare.ts";
import { isObject, type JsonObject } from "./rows.ts";
import { messagesOf, type RecordedCall } from "./scripted-servers.ts";

/** Compares the calls of a server with `judge_calls`: server, path and messages (only the roles if no content is given). */
export function judgeCallsDifference(calls: readonly RecordedCall[], expected: unknown): string | undefined {
  if (!Array.isArray(expected)) return undefined;
  if (calls.length !== expected.length) {
    return `judge_calls: expected ${expected.length} calls, got ${calls.length}: ${show(calls)}`;
  }
  for (const [index, wanted] of expected.entries()) {
    const call = calls[index];
    if (!isObject(wanted) || call === undefined) continue;
    const found = callDifference(call, wanted, `judge_calls[${index}]`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function callDifference(call: RecordedCall, wanted: JsonObject, path: string): string | undefined {
  for (const [key, actual] of [
    ["server_name", call.server],
    ["url_path", call.path],
    ["n_messages", messagesOf(call).length],
  ] as const) {
    if (wanted[key] !== undefined && wanted[key] !== actual) {
      return `${path}.${key}: expected ${show(wanted[key])}, got ${show(actual)}`;
    }
  }
  if (!Array.isArray(wanted["messages"])) return undefined;
  const messages = messagesOf(call).map(({ role, content }) => ({ role, content: contentText(content) }));
  const roles = messages.map(({ role }) => ({ role }));
  const onlyRoles = wanted["messages"].every(
    (message) => isObject(message) && !Object.hasOwn(message, "content"),
  );
  return difference(onlyRoles ? roles : messages, wanted["messages"], `${path}.messages`);
}

/** A message may contain its text as one string or as a single text part. */
function contentText(content: unknown): unknown {
  if (!Array.isArray(content) || content.length !== 1) return content;
  const part: unknown = content[0];
  return isObject(part) && typeof part["text"] === "string" ? part["text"] : content;
}
