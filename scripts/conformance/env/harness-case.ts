import { promptOf } from "../../../src/servers/agents/cli/define-cli-agent.ts";
import { Transcript } from "../../../src/servers/agents/cli/transcript.ts";
import { difference } from "./compare.ts";
import type { FixtureRow, JsonObject } from "./rows.ts";

type Read = (event: JsonObject, transcript: Transcript) => void;

/** Compares the items that a harness's events become: lines of JSON, and others. */
export function eventsCase(row: FixtureRow, read: Read, text = String(row["stdout"])): string | undefined {
  return itemsCase(row.expected, (transcript) => {
    for (const line of text.split("\n"))
      if (line.startsWith("{")) read(JSON.parse(line) as JsonObject, transcript);
  });
}

/** Compares items and usage of a harness. Ids are made at random, and arguments are compared as JSON. */
export function itemsCase(expected: unknown, fill: (transcript: Transcript) => void): string | undefined {
  const transcript = new Transcript();
  fill(transcript);
  const items = transcript.finish() as unknown as JsonObject[];
  const { input_tokens = 0, output_tokens = 0, input_tokens_details: details } = transcript.usage ?? {};
  const usage = { input_tokens, output_tokens, cached_tokens: details?.cached_tokens ?? 0 };
  const wanted = expected as { items: JsonObject[]; usage?: JsonObject };
  return (
    difference(items.map(comparable), wanted.items.map(comparable), "items") ??
    difference(usage, wanted.usage ?? {}, "usage", { subset: true })
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
