import { judgeConfig } from "nemo-gym";
import { laxBool, laxFloat, laxInt } from "nemo-gym/openai";
import { z } from "zod";

const reference = judgeConfig.judge_model_server;
const params = z.record(z.string(), z.unknown());

const Panelist = z.looseObject({
  name: z.string().nullish(),
  model: z.string(),
  model_server: reference.nullish(),
  create_params_overrides: params.nullish(),
  weight: laxFloat().default(1),
  handles_audio_video: laxBool().default(false),
});
const ReferenceModel = z.looseObject({ deliverables_dir: z.string(), elo: laxFloat().default(1000) });
const attempts = laxInt().pipe(z.number().min(1));

export const Config = z
  .object({
    ...judgeConfig,
    judge_responses_create_params_overrides: params.nullish(),
    judge_prompt_template_fpath: z.string().default("prompts/judge.txt"),
    judge_panel: z.array(Panelist).nullish(),
    judge_sampling_seed: laxInt().nullish(),
    /** Factor of the waits before a call is repeated. */
    judge_retry_delay_factor: z.number().nonnegative().default(1),
    persist_raw_judge_responses: laxBool().default(false),
    reward_mode: z.enum(["rubric", "comparison"]).default("rubric"),
    rubric_scoring_mode: z.enum(["binary", "structured"]).default("binary"),
    rubric_structured_num_trials: attempts.default(2),
    rubric_structured_formatting_retries: attempts.default(3),
    reference_models: z.record(z.string(), ReferenceModel).nullish(),
    reference_deliverables_dir: z.string().nullish(),
    reference_elo: laxFloat().default(1000),
    num_comparison_trials: laxInt().pipe(z.number().min(0)).default(4),
    preconvert_office_to_pdf: laxBool().default(true),
    preconvert_max_concurrent: attempts.default(4),
  })
  .refine(
    ({ reward_mode, reference_models: models, reference_deliverables_dir: folder }) =>
      reward_mode !== "comparison" || Object.keys(models ?? {}).length > 0 || folder != null,
    { error: "is required to compare", path: ["reference_models"] },
  );
export type Config = z.output<typeof Config>;

/** A judge of the panel. */
export interface Member {
  name: string;
  model: string;
  server: string;
  weight: number;
  overrides: Record<string, unknown>;
  handlesAudioVideo: boolean;
}

/** The judges; without a panel, the one of the config. */
export function membersOf(config: Config): Member[] {
  const { model = "judge", api_key: _, ...overrides } = config.judge_responses_create_params_overrides ?? {};
  const server = config.judge_model_server;
  if (!config.judge_panel?.length)
    return [
      { name: String(model), model: String(model), server, weight: 1, overrides, handlesAudioVideo: false },
    ];
  return config.judge_panel.map((member) => {
    const { api_key: _key, ...own } = member.create_params_overrides ?? {};
    return {
      name: member.name ?? member.model,
      model: member.model,
      server: member.model_server ?? server,
      weight: member.weight,
      overrides: own,
      handlesAudioVideo: member.handles_audio_video,
    };
  });
}

/** The references with their strength. */
export function referencesOf(config: Config): Map<string, { folder: string; elo: number }> {
  const models = Object.entries(config.reference_models ?? {});
  if (models.length > 0)
    return new Map(models.map(([id, { deliverables_dir: folder, elo }]) => [id, { folder, elo }]));
  const folder = config.reference_deliverables_dir;
  return new Map(folder == null ? [] : [["reference", { folder, elo: config.reference_elo }]]);
}
