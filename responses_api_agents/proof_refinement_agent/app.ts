import { defineAgent } from "nemo-gym";
import {
  agentConfig,
  callLimits,
  callModel,
  mergeCookies,
  modelServerRef,
  resourcesServerRef,
  seedSession,
  verifyRollout,
} from "nemo-gym/agents";
import {
  accumulateUsage,
  laxBool,
  laxInt,
  materializeCreateParams,
  materializeResponse,
  parseCreateParams,
  type Response,
  type Usage,
} from "nemo-gym/openai";
import { isTruthy } from "nemo-gym/python";
import { z } from "zod";

const Verdict = z.looseObject({
  reward: z.number(),
  proof_status: z.string().default("unknown"),
  needs_correction: z.unknown().optional(),
  error_feedback: z.string().nullable().default(null),
  correction_prompt: z.string().nullable().default(null),
});

/** Shows the model why its proof was rejected, and lets it write another one. */
export default defineAgent({
  name: "ProofRefinementAgent",
  config: agentConfig.extend({
    resources_server: resourcesServerRef,
    model_server: modelServerRef,
    /** How often the model may correct its proof. */
    max_correction_turns: laxInt().default(0),
    /** Whether the result lists every attempt. */
    include_all_attempts: laxBool().default(true),
  }),
  async responses({ params, cookies, config, server, rollout, signal }) {
    const { response } = await callModel(server.client, {
      modelServer: config.model_server.name,
      params,
      rollout,
      signal,
      timeoutMs: callLimits(server.globalConfig).modelCallMs,
    });
    return { response: { ...response }, cookies };
  },
  async run(args) {
    const { row, config, respond } = args;
    const { model, temperature, top_p } = args.params;
    let params = args.params;
    let request = materializeCreateParams(params);
    const seeded = await seedSession(args, { ...row, responses_create_params: request }, args.cookies);
    let cookies = mergeCookies(args.cookies, seeded.cookies);
    const attempts = [];
    let usage: Usage | null = null;
    for (let turn_index = 0; ; turn_index++) {
      const reply = await respond(params, cookies);
      const response = reply.response as Response;
      usage = accumulateUsage(usage, response.usage);
      const attempt = { ...row, responses_create_params: request, response: materializeResponse(response) };
      const verified = await verifyRollout(args, { ...attempt, turn_index }, cookies);
      cookies = mergeCookies(cookies, verified.cookies);
      const verdict = Verdict.parse(verified.json());
      const { reward, proof_status, error_feedback, correction_prompt } = verdict;
      attempts.push({
        ...{ turn_index, input: request["input"], response: attempt.response },
        ...{ generation: generationOf(response), proof_status, reward, error_feedback, correction_prompt },
      });
      const isLast = turn_index >= config.max_correction_turns || !isTruthy(verdict.needs_correction);
      if (isLast || !correction_prompt)
        return {
          ...(verified.json() as z.output<typeof Verdict>),
          response: materializeResponse({ ...response, usage }),
          total_turns: turn_index + 1,
          all_attempts: config.include_all_attempts ? attempts : null,
        };
      // As in the original, max_output_tokens of the row counts only for the first attempt.
      const input = [{ role: "user", content: correction_prompt }];
      params = parseCreateParams({ input, model, temperature, top_p }, ["correction"]);
      request = materializeCreateParams(params);
    }
  },
});

/** The first text of the last message. */
function generationOf({ output }: Response): string {
  for (const item of output.toReversed())
    if (item.type === "message" && Array.isArray(item.content)) {
      for (const part of item.content) if (part.type === "output_text") return part.text;
      return "";
    }
  return "";
}
