import { defineModel } from "nemo-gym";

/** What a booking looks like if a rule is followed, by a sentence that states the rule. */
const RULES: Readonly<Record<string, (entry: string) => string>> = {
  "Write room names in capital letters.": (entry) => entry.toUpperCase(),
  "Put the day before the room.": (entry) => `Monday ${entry}`,
  "Add the number of seats.": (entry) => `${entry}, 12 seats`,
  "Name the host first.": (entry) => `Ada: ${entry}`,
  "Separate fields by a slash.": (entry) => `${entry}/main`,
  "Mark evening bookings.": (entry) => `${entry} (evening)`,
  "Entries end with a full stop.": (entry) => `${entry}.`,
  "Entries begin with a hash.": (entry) => `#${entry}`,
};
const REFLECTION =
  /^(?:An agent works with the texts below\. You improve one of them:|Rewrite this text of an agent,) "([^"]*)"/;

/**
 * A scripted policy. As an agent it books the room of the request, by the rule that the request is about if a text states
 * it. As a reflection model it adds the rules that the feedback names: those about entries to the description of the tool,
 * all others to the system prompt.
 */
export default defineModel({
  async responses({ params }) {
    const input = typeof params.input === "string" ? [{ role: "user", content: params.input }] : params.input;
    const messages = input.flatMap((item) =>
      "role" in item ? [{ role: item.role, text: textOf(item.content) }] : [],
    );
    const request = messages.findLast(({ role }) => role === "user")?.text ?? "";
    const reflection = REFLECTION.exec(request);
    if (reflection) return reply([message(improved(request, reflection[1] ?? ""))]);
    if (input.some((item) => "type" in item && item.type === "function_call_output"))
      return reply([message("Booked.")]);
    const known = messages.filter(({ role }) => role !== "user").map(({ text }) => text);
    for (const tool of params.tools ?? [])
      if ("description" in tool) known.push(String(tool.description ?? ""));
    const [, room = "", topic = ""] = /room "([^"]*)" \(topic (\d+)\)/.exec(request) ?? [];
    const rule = Object.keys(RULES)[Number(topic)];
    const follow = rule !== undefined && known.some((text) => text.includes(rule)) ? RULES[rule] : undefined;
    const entry = follow ? follow(room) : room;
    const call = {
      type: "function_call" as const,
      call_id: "call_1",
      name: "book",
      arguments: JSON.stringify({ entry }),
    };
    return reply([{ ...call, id: "fc_1", status: "completed" as const }]);
  },
});

/** The text of the component with the rules that the examples name. */
function improved(request: string, component: string): string {
  const [, text = ""] = /^```\n([\s\S]*?)\n```/m.exec(request) ?? [];
  const named = Object.keys(RULES).filter(
    (rule) => request.includes(`House rule: ${rule}`) && !text.includes(rule),
  );
  const fitting = named.filter((rule) => rule.startsWith("Entries") === component.startsWith("tools."));
  return `These rules are missing.\n\`\`\`\n${[text, ...fitting].filter((line) => line !== "").join("\n") || "-"}\n\`\`\``;
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? "").join("") : "";
}

function message(text: string) {
  const content = [{ type: "output_text" as const, text, annotations: [] }];
  return {
    id: "msg_1",
    type: "message" as const,
    role: "assistant" as const,
    status: "completed" as const,
    content,
  };
}

function reply(
  output: (
    | ReturnType<typeof message>
    | {
        id: string;
        type: "function_call";
        call_id: string;
        name: string;
        arguments: string;
        status: "completed";
      }
  )[],
) {
  return {
    id: "resp_1",
    created_at: 0,
    model: "rule_follower",
    object: "response" as const,
    output,
    parallel_tool_calls: true,
    tool_choice: "auto" as const,
    tools: [],
    usage: {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 10,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 110,
    },
  };
}
