import { readEvent, splitMessages } from "../../../../responses_api_agents/hermes_agent/app.ts";
import { convertResponsesToChat } from "../../../../src/wire/convert/door.ts";
import type { Adapter } from "../adapters.ts";
import { difference } from "../compare.ts";
import { itemsCase } from "../harness-case.ts";
import { type JsonObject, readLines } from "../rows.ts";

const TOKENS = ["prompt_token_ids", "generation_token_ids", "generation_log_probs"];

export const adapter: Adapter = {
  rows: readLines,
  caseOf: (row) => () => {
    if (row["kind"] === "split_input") {
      const { messages } = convertResponsesToChat({ input: row["input"] } as never);
      const { prompt, history, system } = splitMessages(messages);
      return difference([prompt, history, system], row.expected, "split");
    }
    const messages = (row["messages"] as unknown[]).slice(Number(row["n_input"]));
    const { items } = row.expected as { items: JsonObject[] };
    return itemsCase({ items: items.map(withoutEmptyTokens) }, (transcript) => {
      for (const message of messages) readEvent({ type: "message", message }, transcript);
    });
  },
};

/** The original gives messages without token ids empty lists. Here they have none. */
function withoutEmptyTokens(item: JsonObject): JsonObject {
  const isEmpty = (key: string, value: unknown) => TOKENS.includes(key) && String(value) === "";
  return Object.fromEntries(Object.entries(item).filter(([key, value]) => !isEmpty(key, value)));
}
