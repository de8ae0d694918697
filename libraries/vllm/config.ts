import { providerConfig, TRAINING } from "nemo-gym/models";
import { laxBool } from "nemo-gym/openai";
import { z } from "zod";

const settings = () => z.record(z.string(), z.unknown()).nullish();

/** The config keys of all servers that use a vLLM engine. */
export const vllmFields = {
  /** Address of the engine, or the addresses of replicas. */
  base_url: z.union([z.string(), z.array(z.string())]),
  api_key: z.string().nullish(),
  model: z.string(),
  /** Whether responses contain token ids and log probabilities, for training. */
  return_token_id_information: laxBool(),
  /** Also requests `prompt_token_ids` and `token_ids` from the engine, which avoids a call to `/tokenize`. */
  request_prompt_and_generation_token_ids: laxBool().default(false),
  /** Whether the engine reports reasoning separately from the content. */
  uses_reasoning_parser: laxBool(),
  /** Sends the reasoning of earlier turns back to the engine. */
  uses_interleaved_reasoning: laxBool().default(true),
  /** Keeps think tags in the history unchanged. */
  preserve_reasoning_in_assistant_content: laxBool().default(false),
  replace_developer_role_with_system: laxBool().default(false),
  /** False: a history that ends with reasoning only gets a filtered response here instead of being continued. */
  sequential_reasoning_allowed: laxBool().default(true),
  /** Whether the engine supports the Responses API. */
  is_responses_native: laxBool().default(false),
  chat_template_kwargs: settings(),
  /** Keys added to every request; keys of the request take precedence. */
  extra_body: settings(),
  /** Keys set in every request; they override all others. */
  sampling_overrides: settings(),
  default_headers: z.record(z.string(), z.string()).nullish(),
  /** Base folder of relative `audio_path`s in rows. */
  audio_root: z.string().nullish(),
  /** Uses `/v1/completions`, for base models. */
  use_completions_api: laxBool().default(false),
  /** For base models: applies a chat template instead of using the text of the messages unchanged. */
  render_chat_template: laxBool().default(false),
  /** Folder or hub name of the tokenizer whose template is applied; by default the engine's own. */
  tokenizer: z.string().nullish(),
  ...providerConfig(TRAINING),
};

/** Limits that do not apply to weight transfers. */
const PATIENCE = ["request_timeout_seconds", "retry_seconds"] as const;
const LEAST_PATIENCE_SECONDS = 1_800;

const schema = z.looseObject(vllmFields);
export type VllmConfig = z.output<typeof schema>;

/** Adds an issue for each invalid combination of settings; for `superRefine`. */
export function rejectProblems(config: Partial<VllmConfig>, context: z.RefinementCtx): void {
  for (const key of config.return_token_id_information ? PATIENCE : []) {
    const seconds = config[key] ?? LEAST_PATIENCE_SECONDS;
    if (seconds >= LEAST_PATIENCE_SECONDS) continue;
    context.addIssue({
      code: "custom",
      path: [key],
      message: `${seconds} is too short for training (return_token_id_information: true): an engine may be silent for half an hour while weights are exchanged; give at least ${LEAST_PATIENCE_SECONDS}, or null for no limit`,
    });
  }
  if (!config.is_responses_native) return;
  const settings: string[] = [];
  if (config.return_token_id_information) settings.push("return_token_id_information: true");
  if (config.replace_developer_role_with_system) settings.push("replace_developer_role_with_system: true");
  if (config.sequential_reasoning_allowed === false) settings.push("sequential_reasoning_allowed: false");
  for (const setting of settings) {
    context.addIssue({
      code: "custom",
      message: `is_responses_native: true cannot be combined with ${setting}`,
    });
  }
}
