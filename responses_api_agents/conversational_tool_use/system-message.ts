import type { JsonObject } from "nemo-gym";
import { inputItems } from "nemo-gym/agents";
import type { ResponseCreateParams, ResponseInputItem } from "nemo-gym/openai";

/** The instructions of the representative; none if the input already has some. */
export function systemMessage(row: JsonObject, params: ResponseCreateParams): ResponseInputItem[] {
  const roles = ["system", "developer"];
  if (inputItems(params).some((item) => "role" in item && roles.includes(String(item.role)))) return [];
  const content = `You are a representative of customer service. Follow this policy:

<policy>
${String(row["policy"] ?? "")}
</policy>

In each turn either write one message to the customer or call tools, not both. Say only what the policy, the customer or a tool has told you.`;
  return [{ role: "system", content, type: "message" }];
}
