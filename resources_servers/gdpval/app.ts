import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { Template } from "@huggingface/jinja";
import { allAssistantText, createJudge, defineResourcesServer, HttpError, type Judge } from "nemo-gym";
import { z } from "zod";
import { compareAll, compareRepeat } from "./compare.ts";
import { Config, membersOf, referencesOf } from "./config.ts";
import { hasAudioVideo, isFinished, repeatsOf, rubricMaterial } from "./files.ts";
import { askerOf } from "./judging.ts";
import { gdpvalMetrics } from "./metrics.ts";
import { drawMember, randomFor } from "./panel.ts";
import { gradeBinary, gradeStructured, pointsOf } from "./rubric.ts";

const STRUCTURED = `End with one line in exactly this form:
FINAL_SCORE[x] out of MAX_POSSIBLE_SCORE[y]
x is the sum of the points that you give, y the sum of all points of the rubric.`;

const text = z
  .string()
  .nullish()
  .transform((given) => given ?? null);
const any = z
  .unknown()
  .optional()
  .transform((given) => given ?? null);

const Row = z.looseObject({
  task_id: z.string(),
  ...{
    prompt: text,
    sector: text,
    occupation: text,
    rubric_pretty: text,
    deliverables_dir: z.string().nullish(),
  },
  ...{ rubric_json: any, reference_file_urls: any },
  reference_ids: z
    .array(z.string())
    .nullish()
    .transform((given) => given ?? null),
});

const NOTHING = {
  ...{ win: null, loss: null, tie: null, total_wins: null, total_losses: null, total_ties: null },
  ...{ per_reference: null, invalid_judge_response: null },
};

/** Work products of professions: graded against a rubric, or compared with those of other models. */
export default defineResourcesServer({
  config: Config,
  row: Row,
  metrics: gdpvalMetrics,
  reverifyMode: "stateless",
  async start(server) {
    const { config } = server;
    const panel = membersOf(config);
    const judges = new Map<string, Judge>();
    for (const name of new Set(panel.map((member) => member.server)))
      judges.set(
        name,
        createJudge(
          server,
          { ...config, judge_model_server: name },
          { api: "chat", params: {}, allowNoChoices: true },
        ),
      );
    const file = config.judge_prompt_template_fpath;
    const beside = path.resolve(server.directory, file);
    const source = await readFile(existsSync(beside) ? beside : server.findFile(file), "utf8");
    return { panel, judges, template: new Template(source), references: referencesOf(config) };
  },
  async verify({ config, row, response, state, signal }) {
    const { task_id: taskId, deliverables_dir: folder, prompt } = row;
    const ask = askerOf(state.judges, config.judge_retry_delay_factor, signal);
    const seed = config.judge_sampling_seed ?? null;
    const isThere = folder != null && existsSync(folder);
    const hasMedia = isThere && (await hasAudioVideo(folder));
    const able = state.panel.filter((member) => member.handlesAudioVideo);
    const panel = hasMedia && able.length > 0 ? able : state.panel;
    const keepRaw = config.persist_raw_judge_responses;

    if (config.reward_mode === "rubric") {
      const mode = { ...NOTHING, verify_mode: "rubric" };
      const rubric = row.rubric_pretty || (isFilled(row.rubric_json) ? JSON.stringify(row.rubric_json) : "");
      if (rubric === "") return { ...mode, reward: 0, judge_response: null, invalid_judge_response: true };
      const { text: deliverable, attached } = isThere
        ? await rubricMaterial(folder)
        : { text: allAssistantText(response), attached: [] };
      const rendered = state.template.render({
        task_prompt: prompt ?? "",
        rubric,
        deliverable_text: deliverable,
      });
      const random = randomFor(seed, [taskId, "rubric"]);
      const draw = () => drawMember(panel, random);
      const content = (prefix: string) =>
        attached.length > 0 ? [{ type: "text", text: prefix }, ...attached] : prefix;
      if (config.rubric_scoring_mode === "binary")
        return { ...mode, ...(await gradeBinary(ask, draw(), content(rendered), keepRaw)) };
      if (typeof row.rubric_json === "string" && row.rubric_json !== "") requireJson(row.rubric_json);
      const graded = await gradeStructured(ask, draw, content(`${rendered}\n\n${STRUCTURED}`), {
        points: pointsOf(row.rubric_json),
        trials: config.rubric_structured_num_trials,
        retries: config.rubric_structured_formatting_retries,
        keepRaw,
      });
      return { ...mode, ...graded };
    }

    const mode = { ...NOTHING, verify_mode: "comparison" };
    const active = [...state.references].filter(
      ([id]) => row.reference_ids === null || row.reference_ids.includes(id),
    );
    const references = await Promise.all(
      active.map(async ([id, { folder: models, elo }]) => ({
        id,
        elo,
        repeats: await repeatsOf(models, taskId),
      })),
    );
    const present = references.filter(({ repeats }) => repeats.length > 0);
    if (present.length === 0) return { ...mode, reward: 0, judge_response: { error: "reference_missing" } };
    if (!isThere || !isFinished(folder))
      return { ...mode, reward: 0, loss: true, judge_response: { error: "eval_missing" } };
    const compared = await compareAll(
      present,
      ({ id }, repeat) => {
        const random = randomFor(seed, [taskId, id, path.basename(repeat)]);
        const trials = config.num_comparison_trials;
        const compared = { task: prompt ?? "", given: folder, reference: repeat, trials, keepRaw };
        return compareRepeat(ask, () => drawMember(panel, random), compared);
      },
      panel,
      hasMedia && able.length > 0,
    );
    return { ...mode, ...compared };
  },
});

function isFilled(value: unknown): boolean {
  return typeof value === "object" && value !== null ? Object.keys(value).length > 0 : Boolean(value);
}

function requireJson(rubric: string): void {
  try {
    JSON.parse(rubric);
  } catch {
    throw new HttpError(422, "rubric_json is not JSON.");
  }
}
