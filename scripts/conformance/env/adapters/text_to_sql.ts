import type { Adapter } from "../adapters.ts";
import { judgeCallsDifference } from "../judge-calls.ts";
import { isObject } from "../rows.ts";
import { messagesOf, type RecordedCall } from "../scripted-servers.ts";

/** What fixtures say about a call, read from our prompt. */
function described(call: RecordedCall) {
  const messages = messagesOf(call);
  const text = String(messages.at(-1)?.["content"]);
  const tagged = (tag: string) => new RegExp(`<${tag}>\n([\\s\\S]*?)\n</${tag}>`).exec(text)?.[1];
  return {
    a: tagged("query_a"),
    b: tagged("query_b"),
    dialect: /^Do two (\S+) /.exec(text)?.[1],
    roles: messages.map(({ role }) => role).join(),
  };
}

export const adapter: Adapter = {
  unlisted: ["judge_evaluations"],
  judgeCalls(calls, expected) {
    const found = judgeCallsDifference(calls, expected);
    if (found !== undefined || !Array.isArray(expected)) return found;
    for (const [index, call] of calls.entries()) {
      const wanted: unknown = expected[index];
      if (!isObject(wanted)) continue;
      for (const [name, value] of Object.entries(described(call)))
        if (wanted[name] !== undefined && String(wanted[name]) !== value)
          return `judge_calls[${index}].${name}: expected ${String(wanted[name])}, got ${value}`;
    }
    return undefined;
  },
};
