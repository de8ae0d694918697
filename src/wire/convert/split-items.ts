import type { JsonObject } from "../../python/json/json-object.ts";
import { HOSTED_CALL_TYPES, type ResponseInputItem } from "../schemas/item-types.ts";
import { typeOfUntyped } from "../schemas/validate-items.ts";

/** Types of items that a model generates. Results and approvals come from outside and never start the generated part. */
const GENERATED = new Set<string>(["reasoning", "function_call", ...HOSTED_CALL_TYPES]);

/** Whether the model generated this item. */
export function isGenerated(item: ResponseInputItem): boolean {
  const type = item.type ?? typeOfUntyped(item as JsonObject);
  if (type !== "message") return GENERATED.has(type);
  const { role = "assistant" } = item as { role?: unknown };
  return role === "assistant";
}

/** Cuts a flat list of items into the prompt and what the model generated, at the model's first item. */
export function splitItems<T extends ResponseInputItem>(items: readonly T[]): { input: T[]; output: T[] } {
  const found = items.findIndex(isGenerated);
  const cut = found === -1 ? items.length : found;
  return { input: items.slice(0, cut), output: items.slice(cut) };
}
