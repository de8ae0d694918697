import { isObject, type JsonObject } from "../../python/json/json-object.ts";

/** One step of an item on its way to the client: the event's type and its fields beside the item's place. */
export type ItemStep = [type: string, fields: JsonObject];

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/**
 * The steps in which the Responses API streams an item: an empty shell, each of its texts as one delta, and the whole item. Clients
 * that collect the deltas and clients that wait for the item end up with the same.
 */
export function* itemSteps(item: unknown): Generator<ItemStep> {
  const [shell, steps] = isObject(item) ? partsOf(item) : [item, []];
  yield ["response.output_item.added", { item: shell }];
  const item_id = isObject(item) ? textOf(item["id"]) : "";
  for (const [type, fields] of steps) yield [type, { item_id, ...fields }];
  yield ["response.output_item.done", { item }];
}

function partsOf(item: JsonObject): [shell: JsonObject, steps: Iterable<ItemStep>] {
  switch (item["type"]) {
    case "message":
      if (!Array.isArray(item["content"])) break;
      return [{ ...item, status: "in_progress", content: [] }, contentSteps(item["content"])];
    case "reasoning":
      if (!Array.isArray(item["summary"])) break;
      return [{ ...item, summary: [] }, summarySteps(item["summary"])];
    case "function_call":
      return [{ ...item, status: "in_progress", arguments: "" }, argumentSteps(item)];
  }
  return [item, []];
}

function* contentSteps(content: readonly unknown[]): Generator<ItemStep> {
  for (const [content_index, part] of content.entries()) {
    const [shell, steps] = partSteps(part);
    yield ["response.content_part.added", { content_index, part: shell }];
    for (const [type, fields] of steps) yield [type, { content_index, ...fields }];
    yield ["response.content_part.done", { content_index, part }];
  }
}

function partSteps(part: unknown): [shell: unknown, steps: ItemStep[]] {
  if (!isObject(part)) return [part, []];
  if (part["type"] === "output_text") {
    const text = textOf(part["text"]);
    const logprobs = Array.isArray(part["logprobs"]) ? part["logprobs"] : [];
    const shell = { ...part, text: "", annotations: [], logprobs: [] };
    return [
      shell,
      [
        ["response.output_text.delta", { delta: text, logprobs }],
        ["response.output_text.done", { text, logprobs }],
      ],
    ];
  }
  if (part["type"] === "refusal") {
    const refusal = textOf(part["refusal"]);
    const shell = { ...part, refusal: "" };
    return [
      shell,
      [
        ["response.refusal.delta", { delta: refusal }],
        ["response.refusal.done", { refusal }],
      ],
    ];
  }
  return [part, []];
}

function* summarySteps(summary: readonly unknown[]): Generator<ItemStep> {
  for (const [summary_index, part] of summary.entries()) {
    const text = isObject(part) ? textOf(part["text"]) : "";
    const shell = isObject(part) ? { ...part, text: "" } : part;
    yield ["response.reasoning_summary_part.added", { summary_index, part: shell }];
    yield ["response.reasoning_summary_text.delta", { summary_index, delta: text }];
    yield ["response.reasoning_summary_text.done", { summary_index, text }];
    yield ["response.reasoning_summary_part.done", { summary_index, part }];
  }
}

function* argumentSteps(item: JsonObject): Generator<ItemStep> {
  const text = textOf(item["arguments"]);
  yield ["response.function_call_arguments.delta", { delta: text }];
  yield ["response.function_call_arguments.done", { name: textOf(item["name"]), arguments: text }];
}
