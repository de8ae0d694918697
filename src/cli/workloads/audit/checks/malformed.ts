import { functionCallItem, messageItem } from "../../../../servers/hosting/light-door.ts";
import type { Check } from "../audit.ts";
import { toolsOf } from "../policies.ts";
import type { AuditAttempt } from "../rollout.ts";

const LARGE = 1_000_000;
const DEEP = 5_000;

export const malformedCheck: Check = {
  name: "malformed-output-is-no-failure",
  title: "The server answers any output of a model, and never with 5xx",
  async run(audit) {
    const { findings, rollouts } = await audit.tryRows(
      (row) => malformedAttempts(toolsOf(row)[0]?.name, audit.settings.call_tools),
      ({ route, status, toolReplies }) => {
        const problems: string[] = [];
        const failed = toolReplies.find((reply) => reply.status >= 500);
        if (failed !== undefined) {
          const text = failed.text.slice(0, 200);
          problems.push(`The tool '${failed.name}' answers with ${failed.status}: ${text}`);
        }
        if (status !== 200) problems.push(`${route} answers with ${status}.`);
        return problems;
      },
    );
    return { findings, note: `${rollouts} rollouts` };
  },
};

/** Output that is valid for the API but makes no sense. */
function malformedAttempts(tool: string | undefined, callTools: boolean): AuditAttempt[] {
  const called = tool ?? "no_such_tool";
  const attempts: AuditAttempt[] = [
    { policy: "arguments that are not JSON", items: [functionCallItem(called, '{"a": ')] },
    { policy: "arguments that are not objects", items: [functionCallItem(called, "[1, null]")] },
    {
      policy: "arguments nested too deep",
      items: [functionCallItem(called, `${"[".repeat(DEEP)}${"]".repeat(DEEP)}`)],
    },
    {
      policy: "an unknown tool",
      items: [functionCallItem("__proto__", {}), functionCallItem("no/such tool", {})],
    },
    {
      policy: "a refusal part",
      items: [{ ...messageItem(), content: [{ type: "refusal", refusal: "I would rather not." }] }],
    },
    {
      policy: "thoughts without an answer",
      items: [
        { id: "rs_test", type: "reasoning", summary: [{ type: "summary_text", text: "Hm, let me see." }] },
      ],
    },
    { policy: "a message without parts", items: [messageItem()] },
    { policy: "half a code block", items: [messageItem('```json\n{"a": [1, 2')] },
    { policy: "braces that never close", items: [messageItem("\\boxed{".repeat(2_000))] },
    {
      policy: "odd characters",
      items: [messageItem("\u0000\ud800\u202e\ufeff\u2028 NaN Infinity 1e999 -0")],
    },
    { policy: "a megabyte of words", items: [messageItem("word ".repeat(LARGE / 5))] },
    { policy: "a megabyte of brackets", items: [messageItem("([{<".repeat(LARGE / 4))] },
  ];
  if (tool !== undefined && callTools) {
    attempts.push({
      policy: "tool calls with wrong arguments",
      calls: [
        { name: tool, arguments: {} },
        { name: tool, arguments: { unknown: [null, { deep: true }] } },
        { name: tool, arguments: [1, 2] },
        { name: "no_such_tool", arguments: {} },
      ],
      items: [messageItem("Done.")],
    });
  }
  return attempts;
}
