import { defineCommand } from "../../command.ts";

export const envQuery = defineCommand({
  description:
    "Send one text to an agent that runs (gym env start) and print what it answers: its tool calls, their results and its last message.",
  flags: {
    agent: {
      kind: "text",
      short: "a",
      metavar: "NAME",
      help: "the agent; optional when only one runs",
    },
    row: {
      kind: "text",
      metavar: "FILE[:LINE]",
      completes: "file",
      help: "take a row of this JSONL file instead of a text, and score the answer (POST /run)",
    },
    json: { kind: "switch", help: "print the whole response as JSON" },
  },
  positionals: { TEXT: { help: "what to ask", optional: true } },
  examples: [
    'gym env query "What is the weather in Oslo?"',
    "gym env query --agent my_agent --row resources_servers/mcqa/data/example.jsonl:3",
  ],
  resolve: { noModel: true, offline: true },
  run: async (context) => (await import("../../env/query.ts")).queryAgent(context as never),
});
