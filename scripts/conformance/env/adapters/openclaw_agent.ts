import { readEvent, readOutput } from "../../../../responses_api_agents/openclaw_agent/app.ts";
import type { Adapter } from "../adapters.ts";
import { eventsCase, instructionCase, itemsCase } from "../harness-case.ts";
import { type JsonObject, readLines } from "../rows.ts";

export const adapter: Adapter = {
  rows: readLines,
  caseOf: (row) => () => {
    if (row["kind"] === "extract_instruction") return instructionCase(row);
    if (row["kind"] === "parse_output")
      return itemsCase(row.expected, (transcript) => readOutput(String(row["stdout"]), transcript));
    // A second form of the original repeats the prompt and the reasoning. Here the captured model calls have both.
    const { items } = row.expected as { items: JsonObject[] };
    const shown = items.filter(({ type, role }) => type !== "reasoning" && role !== "user");
    return eventsCase({ ...row, expected: { items: shown } }, readEvent, String(row["session"]));
  },
};
