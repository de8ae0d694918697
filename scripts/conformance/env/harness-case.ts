import { promptOf } from "../../../src/servers/agents/cli/define-cli-agent.ts";
import { Transcript } from "../../../src/servers/agents/cli/transcript.ts";
import { difference } from "./compare.ts";
import type { FixtureRow, JsonObject } from "./rows.ts";

type Read = (event: JsonObject, transcript: Transcript) => void;

/** Compares the items that a harness's events become. Ids are made at random, and arguments are compared as JSON. */
export function eventsCase(row: FixtureRow, read: Read): string | undefined {
  const transcript = new Transcript();
  for (const line of String(row["stdout"]).split("\n")) {
    const event = line.startsWith("{") ? (JSON.parse(line) as JsonObject) : undefined;
    if (event) read(event, transcript);
  }
  const items = transcript.finish() as unknown as JsonObject[];
  const { input_tokens = 0, output_tokens = 0 } = transcript.usage ?? {};
  const wanted = row.expected as { items: JsonObject[]; usage: JsonObject };
  return (
    difference(items.map(comparable), wanted.items.map(comparable), "items") ??
    difference({ input_tokens, output_tokens }, wanted.usage, "usage", { subset: true })
  );
}

/** Compares the prompt and the system prompt that a harness receives. */
export function instructionCase(row: FixtureRow): string | undefined {
  const { prompt, system = null } = promptOf({ input: row["input"] } as never);
  return difference([prompt, system], row.expected, "instruction");
}

function comparable({ id: _, status, call_id, arguments: given, ...item }: JsonObject): JsonObject {
  const isMade = typeof call_id === "string" && /^call[-_]/.test(call_id);
  return {
    ...item,
    ...(call_id !== undefined && { call_id: isMade ? "<made>" : call_id }),
    ...(typeof given === "string" && { arguments: given === "" ? given : JSON.parse(given) }),
    // Outputs have no status here.
    ...(item["type"] !== "function_call_output" && { status }),
  };
}
