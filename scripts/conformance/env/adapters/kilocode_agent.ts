import { readEvent } from "../../../../libraries/opencode/launch.ts";
import type { Adapter } from "../adapters.ts";
import { eventsCase, instructionCase } from "../harness-case.ts";
import { readLines } from "../rows.ts";

export const adapter: Adapter = {
  rows: readLines,
  caseOf: (row) => () => (row["kind"] === "parse_events" ? eventsCase(row, readEvent) : instructionCase(row)),
};
