import { loopAgentConfig } from "nemo-gym";
import { resourcesServerRef } from "nemo-gym/agents";
import { laxBool, laxInt } from "nemo-gym/openai";
import { z } from "zod";

const count = () => laxInt().refine((value) => value >= 0, { error: "must not be negative" });
const positive = () => laxInt().refine((value) => value > 0, { error: "must be more than 0" });

const images = z.strictObject({
  enabled: laxBool().default(false),
  /** Keeps the images that the row contains. */
  protect_initial_context: laxBool().default(true),
  /** Items with images that keep them, counted from the end. */
  keep_last_groups: count().default(3),
  omission_marker: z.string().default("[Earlier image omitted]"),
});

const reasoning = z.strictObject({
  enabled: laxBool().default(false),
  keep_first_block: laxBool().default(false),
  /** The reasoning of one turn is a block. */
  keep_last_blocks: count().default(3),
});

/** Not in the original: whole turns are left out, so that a conversation of any length fits. */
const turns = z.strictObject({
  enabled: laxBool().default(false),
  keep_last_turns: positive().default(8),
  /** `{count}` is the number of turns. */
  omission_marker: z.string().default("[{count} earlier turns omitted]"),
});

const recency = z.strictObject({
  images: images.prefault({}),
  reasoning: reasoning.prefault({}),
  turns: turns.prefault({}),
});

const policy = z
  .strictObject({ type: z.enum(["identity", "recency"]).default("identity"), config: recency.prefault({}) })
  .superRefine(({ type, config }, context) => {
    const isSome = config.images.enabled || config.reasoning.enabled || config.turns.enabled;
    if (type === "recency" && !isSome)
      context.addIssue({
        code: "custom",
        message: "recency needs images, reasoning or turns with enabled: true",
      });
  });

export const contextHistory = z.strictObject({
  enabled: laxBool().default(false),
  policy: policy.prefault({}),
  schedule: z
    .strictObject({
      type: z.enum(["rolling_recency", "turn_chunked_recency"]).default("rolling_recency"),
      /** Turns after which a chunk ends. */
      actions_per_chunk: positive().default(1),
    })
    .prefault({}),
  guards: z
    .strictObject({
      /** Tokens of a prompt and its answer. */
      max_total_tokens: positive().nullable().default(null),
      reserved_generation_tokens: count().default(0),
      max_active_images: count().nullable().default(null),
      max_vision_tokens: count().nullable().default(null),
      projected_vision_tokens_per_image: count().nullable().default(null),
    })
    .prefault({}),
});

export type ContextHistorySettings = z.output<typeof contextHistory>;

export const compactionAgentConfig = loopAgentConfig.extend({
  resources_server: resourcesServerRef.optional(),
  context_history: contextHistory.prefault({}),
});
