import type { Response, ResponseCreateParams } from "nemo-gym/openai";
import { z } from "zod";
import { defineSweAgent } from "../../libraries/swe/agent/define-swe-agent.ts";
import type { Action } from "../../libraries/swe/agent/shell-loop.ts";
import { toolTexts } from "./templates.ts";

const Arguments = z.object({ command: z.string() });

const BASH = {
  type: "function",
  name: "bash",
  description: "Run a command in a fresh bash in the repository and get its exit code and output.",
  parameters: {
    type: "object",
    properties: { command: { type: "string", description: "The command to run." } },
    required: ["command"],
    additionalProperties: false,
  },
  strict: true,
} as const;

/** Each response has one or more calls of the tool `bash`. */
export default defineSweAgent({
  name: "MiniSWEAgent2",
  texts: toolTexts,
  protocol: {
    params: { tools: [BASH] } as Partial<ResponseCreateParams>,
    submitsOnFailure: false,
    read: readCalls,
    answer: (text, callId) =>
      callId === undefined
        ? { type: "message", role: "user", content: text }
        : { type: "function_call_output", call_id: callId, output: text },
  },
});

/** If one call is invalid, no call of the response runs, and the model has to repeat it. */
function readCalls(output: Response["output"]) {
  const calls = output.filter((item) => item.type === "function_call");
  const actions: Action[] = [];
  for (const { name, call_id: callId, arguments: given } of calls) {
    const problem = name === BASH.name ? undefined : `There is no tool '${name}'.`;
    const parsed = problem === undefined ? readArguments(given) : problem;
    if (typeof parsed === "string")
      return { wrong: { error: parsed }, calls: calls.map(({ call_id }) => call_id) };
    actions.push({ command: parsed.command, callId });
  }
  return actions.length > 0 ? { actions } : { wrong: { error: "Your answer has no tool call." }, calls: [] };
}

function readArguments(text: string): z.output<typeof Arguments> | string {
  try {
    return Arguments.parse(JSON.parse(text));
  } catch {
    return 'The arguments of bash must be {"command": "..."}.';
  }
}
