import { defineResourcesServer, type JsonObject } from "nemo-gym";
import { functionCalls, laxBool, laxFloat, type Response } from "nemo-gym/openai";
import { isObject } from "nemo-gym/python";
import { z } from "zod";
import { CATEGORIES, type Category } from "./categories.ts";
import { type Action, compareAction } from "./compare-action.ts";

const functionCall = z.object({ type: z.literal("function_call"), name: z.string(), arguments: z.string() });

const Row = z.object({
  harness: z.string().default("generic"),
  expected_action: z.discriminatedUnion("type", [
    z.object({ type: z.literal("message"), content: z.string() }),
    functionCall,
    z.object({
      type: z.literal("function_call_batch"),
      calls: z.array(functionCall),
      ordered: laxBool().default(true),
    }),
  ]),
  /** Default: the tools of the request. */
  declared_tools: z
    .array(z.unknown())
    .nullish()
    .transform((tools) => tools ?? null),
  threshold: laxFloat()
    .nullish()
    .transform((threshold) => threshold ?? null),
});

const MATCHES: ReadonlySet<Category> = new Set([
  CATEGORIES.expectedChatMessageFound,
  CATEGORIES.expectedToolCall,
  CATEGORIES.expectedToolCallBatch,
]);

/** The next step of an agent in one of several harnesses, compared with that of an expert. */
export default defineResourcesServer({
  config: z.object({ tool_call_comparator_config: z.object({ string_similarity_threshold: laxFloat() }) }),
  row: Row,
  reverifyMode: "stateless",
  verify({ config, row, response, params }) {
    const action = actionOf(response);
    if (action === undefined)
      return { reward: 0, category: CATEGORIES.noActionFound, similarity_score: null };
    const { category, similarity } = compareAction(action, row.expected_action, {
      harness: row.harness,
      threshold: row.threshold ?? config.tool_call_comparator_config.string_similarity_threshold,
      schemas: schemasOf(row.declared_tools ?? params.tools ?? []),
    });
    return { reward: MATCHES.has(category), category, similarity_score: similarity };
  },
});

/** Calls come before text; several calls are a batch. */
function actionOf(response: Response): Action | undefined {
  const calls = functionCalls(response);
  const [call] = calls;
  if (call)
    return calls.length === 1 ? { ...call, type: "function_call" } : { type: "function_call_batch", calls };
  const texts = response.output.flatMap((item) =>
    item.type === "message" && item.role === "assistant" && Array.isArray(item.content)
      ? item.content.flatMap((part) => ("text" in part ? [part.text] : []))
      : [],
  );
  return texts.length === 0 ? undefined : { type: "message", content: texts.join("") };
}

/** The schemas of tools as in the Responses API, or with a `function` member as in Chat Completions. */
function schemasOf(tools: readonly unknown[]): Map<string, JsonObject> {
  const schemas = new Map<string, JsonObject>();
  for (const tool of tools) {
    if (!isObject(tool)) continue;
    const { name, parameters } = isObject(tool["function"]) ? tool["function"] : tool;
    if (typeof name === "string" && isObject(parameters)) schemas.set(name, parameters);
  }
  return schemas;
}
