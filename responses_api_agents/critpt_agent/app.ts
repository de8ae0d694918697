import { compilePrompt, defineAgent, loadPromptYaml } from "nemo-gym";
import {
  agentConfig,
  callLimits,
  callModel,
  inputItems,
  modelServerRef,
  resourcesServerRef,
  seedSession,
  verifyRollout,
} from "nemo-gym/agents";
import {
  accumulateUsage,
  materializeCreateParams,
  materializeResponse,
  outputText,
  type Response,
  type ResponseInputItem,
} from "nemo-gym/openai";
import { strip } from "nemo-gym/python";
import { z } from "zod";

const THOUGHTS = /<(think|thinking)>.*?<\/\1>/gs;
const FIELDS = ["code_template"];

const message = (role: "user" | "assistant", content: string): ResponseInputItem => ({
  role,
  content,
  type: "message",
});

/** Two turns: the model solves the problem, and then writes the result into a template of code. */
export default defineAgent({
  name: "CritptAgent",
  config: agentConfig.extend({
    resources_server: resourcesServerRef,
    model_server: modelServerRef,
    /** A YAML file whose `user` has `{code_template}`. */
    turn2_prompt_fpath: z.string().default("prompts/turn2.yaml"),
    /** The template itself; wins over the file. */
    turn2_prompt: z.string().nullish(),
  }),
  start: async (server) =>
    server.config.turn2_prompt
      ? compilePrompt(server.config.turn2_prompt, { source: "turn2_prompt", fields: FIELDS })
      : (await loadPromptYaml(server, server.config.turn2_prompt_fpath, FIELDS)).user,
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
    const { row, params, state: prompt, respond } = args;
    const asked = { ...row, responses_create_params: materializeCreateParams(params) };
    const { cookies } = await seedSession(args, asked, args.cookies);
    const solved = (await respond(params, cookies)).response as Response;
    const solution = strip(outputText(solved).replace(THOUGHTS, ""));
    const template = prompt.render({ code_template: String(row["code_template"] ?? "") });
    const input = [...inputItems(params), message("assistant", solution), message("user", template)];
    const written = (await respond({ ...params, input }, cookies)).response as Response;
    const usage = accumulateUsage(solved.usage ?? null, written.usage);
    const verified = await verifyRollout(
      args,
      {
        ...row,
        responses_create_params: materializeCreateParams({ ...params, input }),
        response: materializeResponse({ ...written, usage }),
      },
      cookies,
    );
    return verified.json() as Record<string, unknown>;
  },
});
