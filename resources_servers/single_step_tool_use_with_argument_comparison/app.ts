import { defineResourcesServer } from "nemo-gym";
import { laxBool, laxFloat } from "nemo-gym/openai";
import { z } from "zod";
import { scoreAction } from "./score-action.ts";

const functionCall = z.object({ type: z.literal("function_call"), name: z.string(), arguments: z.string() });

const config = z.object({
  tool_call_comparator_config: z.object({
    word_count_similarity_threshold: laxFloat(),
    floating_point_comparison_threshold: laxFloat().default(1e-6),
    parallel_tool_call_rewarding: laxBool().default(false),
    allow_subset: laxBool().default(false),
    allow_superset: laxBool().default(false),
    parallel_tool_call_reward_mode: z.enum(["binary_strict", "fractional", "f1"]).default("binary_strict"),
  }),
});

/** Behaviour cloning of single steps: the model must call the same tools as an expert, or reply with a message where the expert did. */
export default defineResourcesServer({
  config,
  row: z.object({
    expected_action: z.discriminatedUnion("type", [
      z.object({ type: z.literal("message"), content: z.string() }),
      functionCall,
      z.object({ type: z.literal("function_call_batch"), calls: z.array(functionCall).min(1) }),
    ]),
  }),
  reverifyMode: "stateless",
  verify: ({ row, response, config: { tool_call_comparator_config: comparator } }) => ({
    ...scoreAction(row.expected_action, response, {
      wordCountSimilarity: comparator.word_count_similarity_threshold,
      floatingPoint: comparator.floating_point_comparison_threshold,
      rewardParallelCalls: comparator.parallel_tool_call_rewarding,
      allowSubset: comparator.allow_subset,
      allowSuperset: comparator.allow_superset,
      rewardMode: comparator.parallel_tool_call_reward_mode,
    }),
  }),
});
