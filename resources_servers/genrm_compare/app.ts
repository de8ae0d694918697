import { createHash } from "node:crypto";
import { createJudge, defineResourcesServer, HttpError, JudgeError } from "nemo-gym";
import { parseResponse, type Response } from "nemo-gym/openai";
import { dumps } from "nemo-gym/python";
import type { JudgeMessage } from "nemo-gym/verify";
import { z } from "zod";
import { Cohorts, type Seat } from "../../libraries/cohorts/cohorts.ts";
import { compareGroup, type Group, unavailable } from "./compare.ts";
import { Config } from "./config.ts";

const identifier = z.union([z.string(), z.number().int()]).nullish();

const Row = z.object({
  principle: z.string().nullish(),
  prompt_id: identifier,
  _ng_task_index: identifier,
  _ng_rollout_index: z.number().int().nullish(),
  _ng_group_id: identifier,
  _ng_group_attempt: z
    .number()
    .int()
    .min(0)
    .nullish()
    .transform((attempt) => attempt ?? 0),
});
type Row = z.output<typeof Row>;

const Message = z.looseObject({ role: z.string(), content: z.unknown() });

type Member = Group["responses"][number];

/** Scores the rollouts of one prompt together: a generative reward model compares them in pairs. */
export default defineResourcesServer({
  config: Config,
  row: Row,
  echo: [],
  reverifyMode: "unsupported",
  cohort: (config) => config.num_rollouts_per_prompt,
  start(server) {
    const { config } = server;
    const judge = createJudge(
      server,
      { ...config, judge_model_server: config.genrm_model_server },
      { params: config.genrm_responses_create_params ?? {} },
    );
    const cohorts = new Cohorts<{ response: Member; group: Omit<Group, "responses"> }, number>({
      size: config.num_rollouts_per_prompt,
      collectionTimeoutMs: config.cohort_collection_timeout_s * 1000,
      outcomeTtlMs: config.cohort_result_ttl_s * 1000,
      maxOutcomes: config.max_terminal_cohorts,
      async evaluate(members, last) {
        const signal = AbortSignal.timeout(config.cohort_evaluation_timeout_s * 1000);
        const [first] = members;
        if (!first) return [];
        const responses = members.map(({ response }) => response);
        const compared = compareGroup(
          judge,
          config,
          { ...first.group, responses },
          { signal, countedFor: last },
        );
        const { rewards } = await compared.catch((error: unknown) => {
          if (!signal.aborted) throw error;
          const seconds = config.cohort_evaluation_timeout_s;
          throw new JudgeError(`The cohort was not compared within ${seconds} s.`, { cause: error });
        });
        return rewards;
      },
    });
    return { judge, cohorts };
  },
  tools: {
    compare: {
      description: "Compares responses to one conversation.",
      expose: false,
      input: z.object({
        conversation_history: z.array(Message),
        response_objs: z.array(z.unknown()),
        principle: z.string().nullish(),
      }),
      run: ({ input, config, state: { judge }, signal }) =>
        compareGroup(
          judge,
          config,
          {
            conversation: input.conversation_history as unknown as JudgeMessage[],
            principle: input.principle ?? null,
            responses: input.response_objs.map((response, index) =>
              parseResponse(response, ["body", "response_objs", index]),
            ),
          },
          { signal, countedFor: signal },
        ).catch(unavailable),
    },
  },
  async verify({ config, row, response, params, state: { cohorts }, signal }) {
    const place = {
      ...(row._ng_group_id != null && { _ng_group_id: row._ng_group_id }),
      _ng_group_attempt: row._ng_group_attempt,
      ...(row._ng_rollout_index != null && { _ng_rollout_index: row._ng_rollout_index }),
    };
    const size = config.num_rollouts_per_prompt;
    if (size === 1) return { reward: config.default_score, ...place };
    const input = typeof params.input === "string" ? [{ role: "user", content: params.input }] : params.input;
    const group = { conversation: input as JudgeMessage[], principle: row.principle ?? null };
    const seat = seatOf(row, size, group, response);
    return { reward: await cohorts.join(seat, { response, group }, signal), ...place };
  },
  stop(_server, { cohorts }) {
    cohorts.close();
  },
});

function seatOf(row: Row, size: number, group: Omit<Group, "responses">, response: Response): Seat {
  const slot = row._ng_rollout_index;
  if (slot == null || slot < 0 || slot >= size) {
    throw new HttpError(
      422,
      `_ng_rollout_index must be from 0 to ${size - 1}, because the cohort has ${size} members.`,
    );
  }
  const prompt = digest([group.conversation, group.principle]);
  const key =
    row._ng_group_id != null
      ? ["group", row._ng_group_id]
      : row._ng_task_index != null
        ? ["task", row._ng_task_index, prompt]
        : row.prompt_id != null
          ? ["prompt", row.prompt_id, prompt]
          : ["prompt", prompt];
  return {
    key: JSON.stringify(key),
    attempt: row._ng_group_attempt,
    slot,
    content: digest(response),
    subject: prompt,
    keep: row._ng_group_id != null,
  };
}

function digest(value: unknown): string {
  return createHash("sha256")
    .update(dumps(value, { sortKeys: true }))
    .digest("hex");
}
