import type { Adapter } from "../adapters.ts";
import { isObject, type JsonObject, rowsOf } from "../rows.ts";

type Create = (provider: () => Promise<unknown>) => unknown;

/** A provider that answers with the reply of the fixture. */
function scripted(reply: JsonObject): unknown {
  const results = rowsOf(reply["results"]);
  return {
    search: async () => ({ ...reply, results }),
    extract: async () => results[0]?.["raw_content"] ?? "",
  };
}

export const adapter: Adapter = {
  config: (row) => ({
    exclude_domains: row["excluded_domains"] ?? [],
    tavily_api_key: "unused",
    first_verdict_counts: true,
  }),
  definition: (module, row) => {
    const reply = row["api_reply"];
    return (module["tavilySearch"] as Create)(async () => scripted(isObject(reply) ? reply : {}));
  },
  unlisted: ["judge_response", "judge_response_create_params"],
};
